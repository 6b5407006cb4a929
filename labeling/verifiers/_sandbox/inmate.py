"""The program inside the CPython sandbox: confines itself, then does what the parent asks, line by line.

Runs alone, without the toolkit. Up to `confine` it is trusted; from the first line of the candidate's code
on it is the candidate's, who may replace all of it: everything it answers is the candidate's claim.

Requests and replies are JSON lines on two descriptors of their own; the first request holds the limits:
    {"do": "execute", "code"}                 define the candidate's module
    {"do": "evaluate", "code"}                a value of an expression in it
    {"do": "call", "name", "data"}            a value of a function; data is [args, kwargs], encoded
    {"do": "program", "code", "stdin"}        run as a script
    {"do": "check", "code", "names", "value"} run tests whose functions `names` live in another sandbox; each
                                              call is asked of the parent: {"remote": name, "data"}; then
                                              evaluate the expression `value`, when there is one
"""

import atexit
import builtins
import json
import os
import resource
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120  no pathlib: it is slow
from encode import encode  # type: ignore[import-not-found]

del sys.path[0], sys.modules["encode"]

MAX_MESSAGE = 500


def confine(limits):
    """Give up what root could do, and set limits that nobody but root may raise again."""
    hard = {
        resource.RLIMIT_AS: limits["memory"],
        resource.RLIMIT_FSIZE: limits["file"],
        resource.RLIMIT_NOFILE: limits["files"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if limits["user"]:
        os.setgroups([])
        os.setresgid(limits["user"], limits["user"], limits["user"])
        os.setresuid(limits["user"], limits["user"], limits["user"])
    for name, value in hard.items():
        resource.setrlimit(name, (value, value))
    resource.setrlimit(resource.RLIMIT_NPROC, (limits["processes"], limits["processes"]))
    # The soft limit ends who does not defend himself, the hard one the others.
    resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu"], limits["cpu"] + 1))
    builtins.exit = builtins.quit = sys.exit  # what the module site would bring
    os.environ.clear()
    os.chdir("/tmp")


def main():
    requests = os.fdopen(int(sys.argv[1]), "rb")
    channel = Channel(requests, int(sys.argv[2]))
    sys.argv = ["candidate.py"]
    channel.send({"status": "ready"})
    confine(json.loads(requests.readline()))
    for line in requests:
        reply = channel.answer(json.loads(line))
        flush()
        if os.getpid() != channel.pid:
            os._exit(0)  # a fork that the candidate made answers nothing
        channel.send(reply)


class Channel:
    def __init__(self, requests, replies):
        self.requests, self.replies, self.pid = requests, replies, os.getpid()
        self.n_remote = 0
        self.module = types.ModuleType("candidate")
        sys.modules["candidate"] = self.module

    def send(self, message):
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self.replies, data) :]

    def answer(self, request):
        """Do what a request says; whatever the candidate raises is an answer, too."""
        try:
            return {"execute": self.execute, "evaluate": self.evaluate, "call": self.call}.get(
                request["do"], self.run
            )(request)
        except BaseException as error:  # noqa: BLE001  SystemExit and KeyboardInterrupt among them
            return raised(error)

    def execute(self, request):
        exec(compile(request["code"], "candidate.py", "exec", dont_inherit=True), self.module.__dict__)
        return {"status": "value", "data": None}

    def evaluate(self, request):
        code = compile(request["code"].strip(), "test", "eval", dont_inherit=True)
        return as_reply(eval(code, self.module.__dict__))

    def call(self, request):
        args, kwargs = plain(request["data"])
        return as_reply(getattr(self.module, request["name"])(*args, **kwargs))

    def run(self, request):
        self.n_remote = 0
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        if request["do"] == "program":
            give_stdin(request["stdin"])
        for name in request.get("names", ()):
            module.__dict__[name] = Remote(self, name)
        try:
            exec(compile(request["code"], "candidate.py", "exec", dont_inherit=True), module.__dict__)
            if "value" in request:
                return as_reply(eval(compile(request["value"].strip(), "test", "eval"), module.__dict__))
        except SystemExit as error:
            if request["do"] != "program" or error.code not in (None, 0):
                raise
        except (ImportError, SyntaxError) as error:
            # Behind a first question, it may be what came back that cannot be read or imported.
            if request["do"] == "program" or self.n_remote:
                raise
            return raised(error) | {"kind": "TestsError"}
        except NotPlainError as error:
            return raised(error) | {"kind": "TestsError"}
        if request["do"] == "program":
            finish()
        return {"status": "value", "data": None}


class Remote:
    """A function of the candidate, seen from the tests: called in the candidate's own sandbox."""

    def __init__(self, channel, name):
        self.channel, self.name = channel, name
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        # What the tests hand over is theirs: a value that is no plain data is no fault of the candidate.
        try:
            data = [encode(list(args)), encode(kwargs)]
        except (TypeError, ValueError) as error:
            raise NotPlainError("an argument is no plain data: " + str(error)) from None
        self.channel.n_remote += 1
        self.channel.send({"remote": self.name, "data": data})
        reply = json.loads(self.channel.requests.readline())
        if reply["status"] == "value":
            return plain(reply["data"])
        for name in [reply["kind"], *reply["bases"]]:
            kind = getattr(builtins, name, None)
            # What ends an iteration would end one of the tests' own.
            if not isinstance(kind, type) or issubclass(kind, (StopIteration, StopAsyncIteration)):
                continue
            if issubclass(kind, Exception):
                try:
                    raised_here = kind(reply["detail"])
                except TypeError:
                    continue  # one that wants more than a text; a class above it will do
                raise raised_here
        raise CandidateError(reply["status"] + " " + reply["kind"] + ": " + reply["detail"])


# Neither is an Exception: tests that expect one must not be content with these.
class NotPlainError(BaseException):
    """The tests hand the candidate what cannot cross."""


class CandidateError(BaseException):
    """The candidate did not return, and raised nothing that the tests could know."""


def as_reply(value):
    try:
        return {"status": "value", "data": encode(value)}
    except RecursionError:
        return {"status": "not_plain", "kind": "", "detail": "it is nested too deeply"}
    except (TypeError, ValueError, AttributeError) as error:
        return {"status": "not_plain", "kind": "", "detail": str(error)[:MAX_MESSAGE]}


def plain(data):
    """Turn data of `encode` that the parent sent back into a value."""
    if type(data) is list:
        return [plain(item) for item in data]
    if type(data) is not dict:
        return data
    ((name, body),) = data.items()
    if name == "dict":
        return {plain(key): plain(item) for key, item in body}
    if name in ("tuple", "set", "frozenset"):
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[name]([plain(item) for item in body])
    if name == "complex":
        return complex(float(body[0]), float(body[1]))
    return {"int": lambda text: int(text, 16), "float": float, "bytes": bytes.fromhex}[name](body)


def raised(error):
    try:
        kind, detail = type(error).__name__, str(error)
    except BaseException:  # noqa: BLE001  the candidate's own __str__
        kind, detail = "an error", "whose text raises"
    line = 0
    try:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "candidate.py":
                line = trace.tb_lineno
            trace = trace.tb_next
    except BaseException:  # noqa: BLE001
        line = 0
    bases = [base.__name__ for base in type.mro(type(error))[1:20]]
    told = {"kind": str(kind)[:100], "bases": bases, "detail": str(detail)[:MAX_MESSAGE]}
    return {"status": "raised", "line": line} | told


def finish():
    """Do what an interpreter does at its end: wait for threads, run the functions registered for it."""
    if "threading" in sys.modules:
        threading = sys.modules["threading"]
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
    atexit._run_exitfuncs()


def give_stdin(text):
    """Put a text on descriptor 0 as a file: a pipe would stall when nobody reads it."""
    with open("/tmp/.stdin", "w+", encoding="utf-8", errors="surrogatepass") as file:  # noqa: PTH123
        file.write(text)
    descriptor = os.open("/tmp/.stdin", os.O_RDONLY)
    os.dup2(descriptor, 0)
    os.close(descriptor)
    os.unlink("/tmp/.stdin")  # noqa: PTH108
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115


def flush():
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                stream.flush()
        except BaseException:  # noqa: BLE001  replaced or closed by the candidate
            continue


if __name__ == "__main__":
    main()
