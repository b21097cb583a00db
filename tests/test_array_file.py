"""common/array_file.h against NumPy: what NumPy saves is read, what is written NumPy loads, and
everything else is refused with a sentence."""

import bz2
import gzip
import lzma
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

import numpy
import pytest
from numpy.lib import format as npy

SOURCE = "tests/programs/array_copy.cu"
pytestmark = [pytest.mark.builds(SOURCE), pytest.mark.runtimes("cpu", "sanitize/races")]

TYPES = ["float32", "float64", "int32", "uint8"]
SHAPES = [(), (1,), (0,), (0, 5), (5, 0), (7,), (1, 1), (3, 4), (2, 3, 4), (1, 2, 1, 3), (64, 129)]


@pytest.fixture(scope="module")
def program(build):
    return build(SOURCE)


def sample(shape, kind):
    """Values of every sort; for floating point with an infinity, a NaN, a negative zero."""
    generator = numpy.random.default_rng(7)
    array = generator.integers(0, 256, size=shape)
    if kind != "uint8":
        array = array * 1000 - 128000
    array = numpy.asarray(array).astype(kind)
    if kind.startswith("float") and array.size >= 4:
        array.flat[:4] = [numpy.inf, numpy.nan, -0.0, 0.1]
    return array


def saved(array, version=None):
    """The bytes of an .npy file."""
    with tempfile.TemporaryFile() as file:
        npy.write_array(file, array, version=version)
        file.seek(0)
        return file.read()


def made(dictionary, values=b"", version=(1, 0), length=None):
    """A file with any text for its header; a string, or the bytes themselves."""
    text = dictionary if isinstance(dictionary, bytes) else dictionary.encode()
    length = len(text) if length is None else length
    size = struct.pack("<H" if version[0] == 1 else "<I", length)
    return b"\x93NUMPY" + bytes(version) + size + text + values


def header(descr="'<f4'", order="False", shape="(2, 3)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def refused(result, *words):
    """Exit status 2, one sentence on standard error that holds the words, and nothing printed."""
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("array_copy: "), result.stderr
    for word in words:
        assert word in result.stderr


# Reading and writing what is right


@pytest.mark.parametrize("kind", TYPES)
def test_round_trip(program, run, folder, kind):
    for shape in SHAPES:
        array = sample(shape, kind)
        numpy.save(folder / "a.npy", array)
        result = run(program, "--input", folder / "a.npy", "--output", folder / "b.npy",
                     "--type", kind, "--dimensions", len(shape))
        assert result.returncode == 0, result.stderr
        assert result.stdout == f"{shape} {array.size}\n"
        copy = numpy.load(folder / "b.npy", allow_pickle=False)
        assert copy.dtype == array.dtype and copy.shape == array.shape
        assert copy.tobytes() == array.tobytes()
        assert (os.path.getsize(folder / "b.npy") - array.nbytes) % 64 == 0
    assert sorted(os.listdir(folder)) == ["a.npy", "b.npy"]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(program, run, folder, version):
    array = sample((3, 4), "float32")
    (folder / "a.npy").write_bytes(saved(array, version))
    result = run(program, "--input", folder / "a.npy", "--output", folder / "b.npy")
    assert result.returncode == 0, result.stderr
    assert numpy.load(folder / "b.npy").tobytes() == array.tobytes()


GOOD_HEADERS = {
    "as NumPy writes it": header(),
    "other order of keys": "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
    "double quotes": '{"descr": "<f4", "fortran_order": False, "shape": (2, 3)}',
    "no spaces": "{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
    "spaces and line ends": " { 'descr' : '<f4' ,\n 'fortran_order' : False ,\t'shape' : ( 2 , 3 , ) , } \r\n",
    "of Python 2": "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }",
    "line up to no boundary": header() + "  \n",
    "long": header() + 9000 * " ",
}


@pytest.mark.parametrize("text", GOOD_HEADERS.values(), ids=GOOD_HEADERS.keys())
def test_header_spellings(program, run, folder, text):
    values = numpy.arange(6, dtype="float32").reshape(2, 3)
    (folder / "a.npy").write_bytes(made(text, values.tobytes()))
    result = run(program, "--input", folder / "a.npy", "--output", folder / "b.npy")
    assert result.returncode == 0, result.stderr
    assert numpy.array_equal(numpy.load(folder / "b.npy"), values)


def test_one_dimension_in_fortran_order_is_the_same(program, run, folder):
    values = numpy.arange(5, dtype="float32")
    (folder / "a.npy").write_bytes(made(header(order="True", shape="(5,)"), values.tobytes()))
    assert run(program, "--input", folder / "a.npy").stdout == "(5,) 5\n"


@pytest.mark.parametrize("spelling", ["<u1", ">u1", "=u1", "|u1", "u1", "uint8", "=f4", "|f4", "f4", "float32", "=i4",
                                      "|f8", "<f", "f", "single", "=d", "double", "i", "intc", "<B", "ubyte"])
def test_types_as_numpy_reads_them(program, run, folder, spelling):
    """Single bytes have no order, and the machine's own has several names."""
    kind = numpy.dtype(spelling).newbyteorder("=")
    values = numpy.arange(6).astype(kind).reshape(2, 3)
    (folder / "a.npy").write_bytes(made(header(f"'{spelling}'"), values.tobytes()))
    assert numpy.array_equal(numpy.load(folder / "a.npy"), values), "NumPy reads it otherwise"
    result = run(program, "--input", folder / "a.npy", "--output", folder / "b.npy", "--type", kind.name)
    assert result.returncode == 0, result.stderr
    assert numpy.array_equal(numpy.load(folder / "b.npy"), values)


def test_a_header_of_python_2(program, run, folder):
    text = header(shape="(3L,)").replace("'descr'", "u'descr'").replace("'shape'", 'u"shape"')
    (folder / "a.npy").write_bytes(made(text, sample((3,), "float32").tobytes()))
    assert run(program, "--input", folder / "a.npy").stdout.startswith("(3,) ")


# Refusing what is wrong


@pytest.mark.parametrize("found, words", [
    ("float64", "float64"), ("float16", "float16"), ("int32", "int32"), ("int64", "int64"),
    ("uint8", "uint8"), ("bool", "bool"), ("complex64", "complex64"), (">f4", "big-endian float32"),
    (">f8", "big-endian float64"), (">f", "big-endian float32"), ("<U3", "text"), ("S3", "text"),
])
def test_other_types(program, run, folder, found, words):
    path = folder / "a.npy"
    numpy.save(path, numpy.zeros((2, 3), dtype=found))
    refused(run(program, "--input", path), f'"{path}"', f"it holds {words}, and float32 is expected",
            f'numpy.save("{path}", numpy.load("{path}").astype(numpy.float32, order="C"))')


def test_records_and_objects(program, run, folder):
    numpy.save(folder / "a.npy", numpy.zeros(3, dtype=[("x", "<f4"), ("y", "<i4")]))
    refused(run(program, "--input", folder / "a.npy"), "it holds records")
    numpy.save(folder / "b.npy", numpy.array([1, None]), allow_pickle=True)
    refused(run(program, "--input", folder / "b.npy"), "it holds Python objects, and float32",
            f'numpy.load("{folder / "b.npy"}", allow_pickle=True).astype(numpy.float32')


@pytest.mark.parametrize("make, kind", [
    (lambda: sample((4, 5), "float32").T.copy(order="F"), "float32"),
    (lambda: sample((4, 5), "float64").T, "float32"),
    (lambda: sample((4, 5), "int32").astype(">i4"), "int32"),
])
def test_the_command_that_is_told_repairs_it(program, run, folder, make, kind):
    path = folder / "a.npy"
    array = make()
    numpy.save(path, array)
    result = run(program, "--input", path, "--type", kind)
    refused(result, "in Python: ")
    exec(result.stderr.split("in Python: ")[1], {"numpy": numpy})
    result = run(program, "--input", path, "--type", kind)
    assert result.returncode == 0, result.stderr
    assert numpy.array_equal(numpy.load(path), array.astype(kind), equal_nan=kind.startswith("f"))


def test_wrong_dimensions(program, run, folder):
    numpy.save(folder / "a.npy", numpy.zeros((2, 3, 4), dtype="float32"))
    refused(run(program, "--input", folder / "a.npy", "--dimensions", 2),
            "its shape is (2, 3, 4), and 2 dimensions are expected", ".reshape(")
    refused(run(program, "--input", folder / "a.npy", "--dimensions", 1), "1 dimension is expected")
    refused(run(program, "--input", folder / "a.npy", "--dimensions", 0), "0 dimensions are expected")


def test_every_truncation(program, run, folder):
    whole = saved(sample((3, 5), "float32"))
    for length in range(len(whole)):
        (folder / "a.npy").write_bytes(whole[:length])
        result = run(program, "--input", folder / "a.npy")
        if length == 0:
            refused(result, "it is empty")
        elif length < 128:
            refused(result, "it ends inside its header")
        else:
            refused(result, f"(3, 5) of float32 takes 60 bytes, and {length - 128} follow", "cut short")


@pytest.mark.parametrize("extra", [1, 3, 4, 4096])
def test_bytes_after_the_values(program, run, folder, extra):
    (folder / "a.npy").write_bytes(saved(sample((3, 5), "float32")) + bytes(extra))
    refused(run(program, "--input", folder / "a.npy"), f"{60 + extra} follow the header", "longer")


BAD_FILES = {
    "text": (b"1 2 3\n4 5 6\n", "it is no .npy file"),
    "one byte of text": (b"1", "it is no .npy file"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "it is no .npy file"),
    "version 0": (made(header(), bytes(24), (0, 0)), "version is 0.0"),
    "version 1.1": (made(header(), bytes(24), (1, 1)), "version is 1.1"),
    "version 4": (made(header(), bytes(24), (4, 0)), "version is 4.0"),
    "header longer than the file": (made(header(), bytes(24), length=5000), "ends inside its header"),
    "header of 4 GB": (made(header(), bytes(24), (2, 0), 2**32 - 1), "claims 4294967295 bytes"),
    "header that ends early": (made(header(), bytes(24), length=20), "its header is no dictionary"),
    "no header": (made("", bytes(24)), "no dictionary"),
    "zero bytes": (made(bytes(100), bytes(24)), "no dictionary"),
    "list": (made("['<f4', False, (2, 3)]", bytes(24)), "no dictionary"),
    "dictionary left open": (made(header()[:-1], bytes(24)), "no dictionary"),
    "string left open": (made("{'descr", bytes(24)), "no dictionary"),
    "two dictionaries": (made(header() + header(), bytes(24)), "more than a dictionary"),
    "two commas": (made(header().replace("False,", "False,,"), bytes(24)), "no dictionary"),
    "no comma": (made(header().replace("False,", "False"), bytes(24)), "no dictionary"),
    "empty dictionary": (made("{}", bytes(24)), "lacks"),
    "no shape": (made("{'descr': '<f4', 'fortran_order': False}", bytes(24)), "lacks"),
    "no type": (made("{'shape': (2, 3), 'fortran_order': False}", bytes(24)), "lacks"),
    "no order": (made("{'descr': '<f4', 'shape': (2, 3)}", bytes(24)), "lacks"),
    "another key": (made("{'colour': 3, " + header()[1:], bytes(24)), '"colour"'),
    "a key twice": (made("{'shape': (2, 3), " + header()[1:], bytes(24)), '"shape"'),
    "empty type": (made(header("''"), bytes(24)), 'it holds ""'),
    "short type": (made(header("'<'"), bytes(24)), 'it holds "<"'),
    "nonsense type": (made(header("'<q99999999999999999999'"), bytes(24)), "it holds"),
    "type of terminal codes": (made(header("'\x1b[31m'"), bytes(24)), 'it holds "?[31m"'),
    "type is a number": (made(header("4"), bytes(24)), "records"),
    "order is a number": (made(header(order="0"), bytes(24)), "neither True nor False"),
    "order is a string": (made(header(order="'False'"), bytes(24)), "neither True nor False"),
    "order runs on": (made(header(order="Falsehood"), bytes(24)), "no dictionary"),
    "shape is a number": (made(header(shape="6"), bytes(24)), "shape is no tuple"),
    "shape in brackets": (made(header(shape="(6)"), bytes(24)), "shape is no tuple"),
    "shape is a list": (made(header(shape="[2, 3]"), bytes(24)), "shape is no tuple"),
    "shape with a word": (made(header(shape="(two, 3)"), bytes(24)), "shape is no tuple"),
    "shape with a fraction": (made(header(shape="(2.0, 3)"), bytes(24)), "shape is no tuple"),
    "shape with a comma only": (made(header(shape="(,)"), bytes(24)), "shape is no tuple"),
    "shape without comma": (made(header(shape="(2 3)"), bytes(24)), "shape is no tuple"),
    "negative side": (made(header(shape="(-2, -3)"), bytes(24)), "shape is no tuple"),
    "side beyond 64 bits": (made(header(shape="(36893488147419103238,)"), bytes(24)), "no tuple"),
    "product wraps to 24 bytes": (made(header(shape=f"({2**62 + 6},)"), bytes(24)), "more than any"),
    "product wraps to 0": (made(header(shape=f"({2**32}, {2**32})")), "more than any file holds"),
    "46341 x 46341": (made(header(shape="(46341, 46341)"), bytes(24)), "takes 8589953124 bytes"),
    "huge but empty": (made(header(shape=f"({2**62}, {2**62}, 0)")), "more than any file holds"),
    "65 dimensions": (made(header(shape="(" + 65 * "1, " + ")"), bytes(4)), "more than any file"),
    "20000 dimensions": (made(header(shape="(" + 20000 * "1, " + ")"), bytes(4)), "more than any file"),
    "values of another shape": (made(header(shape="(2, 4)"), bytes(24)), "takes 32 bytes, and 24"),
}


@pytest.mark.parametrize("content, words", BAD_FILES.values(), ids=BAD_FILES.keys())
def test_bad_files(program, run, folder, content, words):
    path = folder / "a.npy"
    path.write_bytes(content)
    result = run(program, "--input", path)
    refused(result, f'cannot read "{path}": ', words)
    assert len(result.stderr) < 1000


def packed(folder):
    """The same array in every wrapping that a person may find it in, with the tool that unpacks it."""
    whole = saved(sample((3, 4), "float32"))
    text = "1 2 3\n4 5 6\n"
    numpy.savez(folder / "archive.npz", a=numpy.zeros(3, "float32"))
    with tarfile.open(folder / "archive.tar", "w") as archive:
        archive.add(folder / "archive.npz", "a.npz")
    yield from ((gzip.compress(whole), "gunzip"), (bz2.compress(whole), "bunzip2"), (lzma.compress(whole), "unxz"),
                (b"\x28\xb5\x2f\xfd" + whole, "unzstd"), ((folder / "archive.npz").read_bytes(), "unzip"),
                ((folder / "archive.tar").read_bytes(), "tar -xf"), (text.encode("utf-16"), "UTF-8"),
                (b"\xfe\xff" + text.encode("utf-16-be"), "UTF-8"))


def test_packed_files_are_named(program, run, folder):
    for content, words in packed(folder):
        (folder / "a.npy").write_bytes(content)
        result = run(program, "--input", folder / "a.npy")
        refused(result, f'cannot read "{folder / "a.npy"}": it is ', words)
        assert "no .npy file" not in result.stderr


def test_no_file(program, run, folder):
    refused(run(program, "--input", folder / "none.npy"), "none.npy", "No such file or directory")
    refused(run(program, "--input", folder), "it is a folder")
    os.mkfifo(folder / "pipe")
    refused(run(program, "--input", folder / "pipe", timeout=10), "it is not a regular file")
    refused(run(program, "--input", "/dev/zero", timeout=10), "it is not a regular file")


def test_a_file_beyond_memory(program, run, folder):
    side = 2**40
    with open(folder / "a.npy", "wb") as file:
        file.write(made(header(shape=f"({side},)")))
        start = file.tell()
        try:
            file.truncate(start + 4 * side)  # all of it a hole
        except OSError:
            pytest.skip("the file system holds no file of 4 TiB")
    refused(run(program, "--input", folder / "a.npy"), "not enough memory", "4.0 TiB needed")


def test_changed_bytes_never_crash_it(program, run, folder):
    """What is still read after random changes is what NumPy reads."""
    whole = bytearray(saved(numpy.arange(6, dtype="float32").reshape(2, 3)))
    chance = random.Random(3)
    for _ in range(250):
        changed = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 3])):
            place = chance.randrange(80)
            changed[place] = chance.choice([chance.randrange(256), ord(chance.choice("0123456789,'(){}:<>TF "))])
        (folder / "a.npy").write_bytes(changed)
        result = run(program, "--input", folder / "a.npy", "--output", folder / "b.npy")
        if result.returncode == 0:
            assert numpy.load(folder / "b.npy").tobytes() == numpy.load(folder / "a.npy").tobytes()
        else:
            refused(result)


# Writing where it cannot be


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_full_disk_leaves_nothing(program, folder):
    """A limit on the size of files stands for the full disk, at each place where it may strike."""
    numpy.save(folder / "a.npy", sample((300, 100), "float32"))
    (folder / "b.npy").write_text("of an earlier run")
    before = contents(folder)
    for limit in [0, 64, 128, 4096, 120127]:
        result = subprocess.run(
            [program, "--input", folder / "a.npy", "--output", folder / "b.npy"], text=True,
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert result.returncode == 1, result
        assert f'cannot write "{folder / "b.npy"}": File too large' in result.stderr
        assert contents(folder) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_program_leaves_nothing(program, folder, number):
    numpy.save(folder / "a.npy", numpy.zeros(200 << 20, "uint8"))
    before = sorted(os.listdir(folder))
    for _ in range(10):
        process = subprocess.Popen([program, "--input", folder / "a.npy", "--type", "uint8", "--output",
                                    folder / "b.npy"], stdout=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # a shell's & ignores SIGINT
        while process.poll() is None and sorted(os.listdir(folder)) == before:
            time.sleep(0.001)
        process.send_signal(number)
        if process.wait() == -number:  # otherwise it was faster than the signal
            break
        (folder / "b.npy").unlink()
    assert process.returncode == -number
    assert sorted(os.listdir(folder)) == before


def test_a_link_stays_and_its_target_is_replaced(program, run, folder):
    (folder / "data").mkdir()
    numpy.save(folder / "a.npy", sample((3,), "float32"))
    numpy.save(folder / "data/b.npy", sample((9,), "float32"))
    (folder / "link.npy").symlink_to("data/b.npy")
    assert run(program, "--input", folder / "a.npy", "--output", folder / "link.npy").returncode == 0
    assert (folder / "link.npy").is_symlink() and os.listdir(folder / "data") == ["b.npy"]
    assert numpy.load(folder / "data/b.npy").shape == (3,)


def test_places_that_take_no_file(program, run, folder):
    numpy.save(folder / "a.npy", sample((3,), "float32"))
    (folder / "sub").mkdir()
    places = {folder / "sub": "it is a folder", folder / "none" / "b.npy": "No such file or directory",
              folder / "a.npy" / "b.npy": "Not a directory", "/dev/null": "it is not a regular file",
              f"{folder}/b.npy/": "there is no such folder", folder / (300 * "b"): "File name too long"}
    before = sorted(os.listdir(folder))
    for place, words in places.items():
        result = run(program, "--input", folder / "a.npy", "--output", place)
        assert result.returncode == 1
        assert f'cannot write "{place}"' in result.stderr and words in result.stderr
        assert sorted(os.listdir(folder)) == before
    assert not os.path.isfile("/dev/null")


def test_a_file_is_replaced_and_has_usual_permissions(program, run, folder):
    numpy.save(folder / "a.npy", sample((3, 4), "float32"))
    result = run(program, "--input", folder / "a.npy", "--output", folder / "a.npy")
    assert result.returncode == 0, result.stderr
    assert sorted(os.listdir(folder)) == ["a.npy"]
    result = run(program, "--input", "a.npy", "--output", "c.npy", cwd=folder)
    assert result.returncode == 0, result.stderr
    (folder / "plain").write_text("")
    assert (folder / "c.npy").stat().st_mode == (folder / "plain").stat().st_mode


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to become nobody")
def test_without_the_right_to_read_or_write(program):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copy(program, folder / "array_copy")
        numpy.save(folder / "a.npy", sample((3,), "float32"))
        numpy.save(folder / "secret.npy", sample((3,), "float32"))
        (folder / "secret.npy").chmod(0o600)
        command = [folder / "array_copy", "--input"]
        nobody = {"user": 65534, "capture_output": True, "text": True}
        refused(subprocess.run([*command, folder / "secret.npy"], **nobody), "Permission denied")
        result = subprocess.run([*command, folder / "a.npy", "--output", folder / "b.npy"], **nobody)
        assert result.returncode == 1
        assert f'its folder "{folder}": Permission denied' in result.stderr
