"""CloudFormation: templates, change sets, and stacks that are made as a whole or not at all."""
