"""Controllers: laws that `simulate` takes for inputs."""
