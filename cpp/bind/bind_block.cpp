// SPDX-License-Identifier: BSD-3-Clause
#include "bind/bind.hpp"

#include <structmember.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "chain/at_once.hpp"

namespace op2::bind {
namespace {

using chain::AtOnce;
using chain::Line;

/// A block of a chain, without what is recorded: subclasses have that. It is written for CPython
/// itself, as blocks that run at once have to cost next to nothing.
struct Block {
  PyObject ob_base;
  Line line;         // where it began, if it has run at once; passes < 0: it never does
  char is_at_once;   // whether it is open, and runs at once
  char was_at_once;  // whether it is, or was when it was open last
};

/// Names of attributes.
struct Names {
  PyObject* here;
  PyObject* recorder;
  PyObject* recorders;
  PyObject* epoch;
  PyObject* f_lasti;
  PyObject* configure;
  PyObject* begin;
  PyObject* end;
};

/// What blocks ask: the state of the program, the same for all threads.
struct Asked {
  Names names{};
  PyObject* runtime = nullptr;
  PyObject* recorders = nullptr;  // a dict of what records in threads, the same for good
};

Asked& asked() {
  static Asked made;
  return made;
}

/// The lines of a thread.
std::shared_ptr<AtOnce>& lines_here() {
  thread_local std::shared_ptr<AtOnce> lines;
  return lines;
}

Block* block_of(PyObject* self) {
  return reinterpret_cast<Block*>(self);
}

/// Take a new reference, and forget an error if there is none.
py::object taken(PyObject* made) {
  if (made == nullptr) PyErr_Clear();
  return py::reinterpret_steal<py::object>(made);
}

/// Whether nothing records in this thread. Where nothing does in any, what threads have for
/// themselves need not be looked up, which would take as long as all the rest.
bool is_free(const Asked& state) {
  if (PyDict_GET_SIZE(state.recorders) == 0) return true;
  const py::object here = taken(PyObject_GetAttr(state.runtime, state.names.here));
  if (!here) return false;
  return taken(PyObject_GetAttr(here.ptr(), state.names.recorder)).is_none();
}

std::int64_t number_of(PyObject* owner, PyObject* name) {
  const py::object found = taken(PyObject_GetAttr(owner, name));
  return found ? PyLong_AsLongLong(found.ptr()) : -1;
}

/// Note where a block begins; false if that is not known.
bool notes_line(Block& block) {
  PyFrameObject* frame = PyEval_GetFrame();  // of who opens the block; borrowed
  if (frame == nullptr) return false;
  PyObject* code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
  block.line.code = code;
  Py_DECREF(code);  // the frame keeps it
#if PY_VERSION_HEX >= 0x030B0000
  block.line.at = PyFrame_GetLasti(frame);
#else
  block.line.at =
      static_cast<int>(number_of(reinterpret_cast<PyObject*>(frame), asked().names.f_lasti));
#endif
  return true;
}

/// Whether a block that begins now runs at once, because its line does.
bool takes_turn(Block& block) {
  if (block.is_at_once != 0 || block.line.passes < 0 || !notes_line(block)) return false;
  AtOnce* lines = lines_here().get();
  const Asked& state = asked();
  return lines != nullptr && !lines->is_empty() && is_free(state) &&
         lines->take(block.line, number_of(state.runtime, state.names.epoch));
}

int block_init(PyObject* self, PyObject* args, PyObject* options) {
  if (PyTuple_GET_SIZE(args) == 0 && options == nullptr) return 0;
  const py::object configure =
      py::reinterpret_steal<py::object>(PyObject_GetAttr(self, asked().names.configure));
  if (!configure) return -1;
  const py::object done =
      py::reinterpret_steal<py::object>(PyObject_Call(configure.ptr(), args, options));
  return done ? 0 : -1;
}

PyObject* block_enter(PyObject* self, PyObject* /*unused*/) {
  Block& block = *block_of(self);
  if (!takes_turn(block)) return PyObject_CallMethodNoArgs(self, asked().names.begin);
  block.is_at_once = block.was_at_once = 1;
  Py_INCREF(self);
  return self;
}

PyObject* block_exit(PyObject* self, PyObject* const* args, Py_ssize_t n_args) {
  Block& block = *block_of(self);
  if (block.is_at_once != 0) {
    block.is_at_once = 0;
    Py_RETURN_NONE;
  }
  const py::object end =
      py::reinterpret_steal<py::object>(PyObject_GetAttr(self, asked().names.end));
  return end ? PyObject_Vectorcall(end.ptr(), args, static_cast<std::size_t>(n_args), nullptr)
             : nullptr;
}

/// Make the class Block.
PyObject* block_type() {
  static std::array<PyMemberDef, 6> members{{
      {"_code", T_ULONGLONG, offsetof(Block, line.code), READONLY, "id of the code it began in"},
      {"_at", T_INT, offsetof(Block, line.at), READONLY, "where in that"},
      {"_passes_number", T_INT, offsetof(Block, line.passes), 0,
       "what tells its passes from others; below 0: it never runs at once without being asked"},
      {"_is_at_once", T_BOOL, offsetof(Block, is_at_once), 0, "whether it is open, and does that"},
      {"_was_at_once", T_BOOL, offsetof(Block, was_at_once), 0, "whether it did that last"},
      {nullptr, 0, 0, 0, nullptr},
  }};
  static std::array<PyMethodDef, 3> methods{{
      {"__enter__", &block_enter, METH_NOARGS,
       "__enter__(self) -> typing.Any\n\nBegin, at once or by what `_begin_block` does."},
      {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&block_exit)),
       METH_FASTCALL,
       "__exit__(self, *args: typing.Any) -> None\n\nEnd, or do what `_end_block` does."},
      {nullptr, nullptr, 0, nullptr},
  }};
  static std::array<PyType_Slot, 5> slots{{
      {Py_tp_doc, const_cast<char*>("Block(*, passes=None, bound=128, compare=None)\n--\n\n"
                                    "A block of a chain, without what is recorded.")},
      {Py_tp_init, reinterpret_cast<void*>(&block_init)},
      {Py_tp_members, members.data()},
      {Py_tp_methods, methods.data()},
      {0, nullptr},
  }};
  static PyType_Spec spec{"pyop2cxx._core.chain.Block", sizeof(Block), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  return PyType_FromSpec(&spec);
}

void note_names() {
  const auto interned = [](const char* text) { return PyUnicode_InternFromString(text); };
  asked().names = {interned("here"),         interned("recorder"),  interned("recorders"),
                   interned("epoch"),        interned("f_lasti"),   interned("_configure"),
                   interned("_begin_block"), interned("_end_block")};
}

}  // namespace

void bind_block(py::module_& room) {
  note_names();
  py::class_<AtOnce, std::shared_ptr<AtOnce>>(room, "AtOnce")
      .def(py::init<>())
      .def(
          "set",
          [](AtOnce& lines, std::uintptr_t code, int at, int passes, std::int64_t n_blocks,
             std::int64_t epoch) {
            lines.set({reinterpret_cast<const void*>(code), at, passes}, n_blocks, epoch);
          },
          py::arg("code"), py::arg("at"), py::arg("passes"), py::arg("n_blocks"), py::arg("epoch"))
      .def(
          "left",
          [](const AtOnce& lines, std::uintptr_t code, int at, int passes) {
            return lines.left({reinterpret_cast<const void*>(code), at, passes});
          },
          py::arg("code"), py::arg("at"), py::arg("passes"))
      .def("clear", &AtOnce::clear);
  room.def(
      "use",
      [](std::shared_ptr<AtOnce> lines, const py::object& runtime) {
        lines_here() = std::move(lines);
        if (asked().runtime == runtime.ptr()) return;
        asked().recorders = py::object(runtime.attr("recorders")).release().ptr();
        asked().runtime = py::object(runtime).release().ptr();  // kept: it is never gone before
      },
      py::arg("lines"), py::arg("runtime"));
  room.attr("Block") = py::reinterpret_steal<py::object>(block_type());
}

}  // namespace op2::bind
