class NddError(Exception):
    """The program ndd failed; the text is what it said."""


class UsageError(NddError, ValueError, TypeError):
    """An argument is unknown or wrong, or two contradict each other (exit status 2)."""


class CorruptError(NddError):
    """Data is corrupt, or of another index or recipe (exit status 3)."""


class ServerError(NddError):
    """A server refused a request, or could not be reached; status is that of HTTP, or None."""

    def __init__(self, message: str, status: "int | None" = None) -> None:
        super().__init__(message)
        self.status = status
