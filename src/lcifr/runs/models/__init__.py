"""The work of the commands about models that already decide: opened, compared with their library, audited."""
