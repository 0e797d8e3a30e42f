"""What moto lacks of the services, a file per service."""
