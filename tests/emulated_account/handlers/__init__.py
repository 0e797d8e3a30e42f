"""What the CDK's own Lambda handlers do for custom resources, a file per kind."""
