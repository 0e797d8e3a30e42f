"""Who may do what on AWS, found out on this machine: for tests, and for a local lake with `kafka: {auth: iam}`.

roles.py reads the roles and their policies out of synthesized templates. judge.mjs evaluates them, by the evaluator
@cloud-copilot/iam-simulate. broker/ is MSK's login by IAM for a Kafka broker of one's own; it asks the judge.

The evaluator's licence is AGPL-3.0: it is a tool of this checkout, no part of the product, and never in dist/.
"""
