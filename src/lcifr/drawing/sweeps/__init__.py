"""Pictures of sweeps: shares of everybody who can exist, along one attribute and over two."""
