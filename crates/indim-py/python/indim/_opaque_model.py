"""Programs from files with nodes that indim lacks, before functions for these nodes are given."""

from __future__ import annotations

from ._lint import lint_file


class OpaqueModel:
    """A program from a file that has nodes which indim does not compute.

    ``lint`` checks its broadcasts. ``provide`` adds functions that compute such nodes; before every node on
    the way to the outputs has one, a call raises the error that names the missing ones.
    """

    def __init__(self, path, content, function, part, provide=()):
        self._options = path, content, function, part
        self._provide = dict(provide)
        self._loaded = None

    def provide(self, name, function):
        """Adds a function that computes the nodes with this operator or name, ``"com.acme.Whiten"``; see
        :func:`indim.load`. Returns the model.

        :raises ValueError: if the program has no such node that indim lacks.
        """
        from ._provided import check_names

        check_names(*self._options, [name])
        self._provide[name] = function
        self._loaded = None
        return self

    def lint(self, *, declare=None, allow=()):
        """Findings about the broadcasts of the file: see :func:`indim.lint`."""
        path, content, function, _ = self._options
        return lint_file(path, content, function, declare, allow)

    @property
    def inputs(self):
        """The inputs of the program."""
        return self._complete().inputs

    @property
    def outputs(self):
        """The names of the results."""
        return self._complete().outputs

    def __call__(self, *args, **kwargs):
        return self._complete()(*args, **kwargs)

    def to(self, format, *args, **kwargs):
        """The program with its functions in its own format: see :meth:`ProvidedModel.to`."""
        return self._complete().to(format, *args, **kwargs)

    def _complete(self):
        """The program with its functions.

        :raises FormatError: if a node on the way to the outputs has none.
        """
        if self._loaded is None:
            from ._provided import with_functions

            self._loaded = with_functions(*self._options, self._provide)
        return self._loaded

    def __repr__(self):
        path, given = self._options[0], ", ".join(self._provide) or "none"
        return f"<indim.OpaqueModel of {path!r}: functions for {given}>"

    def __reduce__(self):
        return OpaqueModel, (*self._options, self._provide)
