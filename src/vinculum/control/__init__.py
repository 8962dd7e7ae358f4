"""Laws for the inputs."""
