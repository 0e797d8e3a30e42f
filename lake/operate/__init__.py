"""Operations on a whole lake, wherever it runs: teardown, rebuild, verification, jobs."""
