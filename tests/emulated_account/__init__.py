"""An AWS account that exists in memory only: an emulator written for these tests, not AWS and not made by AWS.

moto answers what it knows of the services. What it lacks is added here: CloudFormation itself (change sets, order,
replacement, rollback, exports), EKS, MSK, and the custom resources that the stacks use. The real CDK command line
deploys into it, the real helm renders into it. A type, a property, a custom resource or a call that nobody wrote
an answer for fails, and fails the run of the tests too; nothing is skipped.

What a passing test says: the templates can be deployed, changed and destroyed in the order in which CloudFormation
would do it, and these values arrive where they should. They keep CloudFormation's own rules: what a change replaces,
which name forbids that, how a value of a property looks (all from the schemas that cfn-lint carries), how large a
template, a policy or a parameter may be, which stack is protected, and which log groups a service makes again.
What it can't say: that AWS takes them. No policy is enforced, no machine started, nothing takes its time.
"""
