/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for hipRTC where it is not installed: the code of a program is its options and its text. */
#include <stdlib.h>
#include <string.h>

struct program {
  char *source;
  char *code;
};

static char *joined(const char *left, const char *right) {
  char *all = malloc(strlen(left) + strlen(right) + 2);
  strcpy(all, left);
  strcat(all, right);
  return strcat(all, "\n");
}

int hiprtcVersion(int *major, int *minor) {
  *major = 6;
  *minor = 0;
  return 0;
}

const char *hiprtcGetErrorString(int result) { return result == 0 ? "none" : "an error"; }

int hiprtcCreateProgram(struct program **made, const char *source, const char *name, int n_headers,
                        const char *const *headers, const char *const *include_names) {
  (void)name, (void)n_headers, (void)headers, (void)include_names;
  *made = malloc(sizeof **made);
  (*made)->source = joined(source, "");
  (*made)->code = joined("code for", "");
  return 0;
}

int hiprtcDestroyProgram(struct program **made) {
  free((*made)->source);
  free((*made)->code);
  free(*made);
  return 0;
}

int hiprtcCompileProgram(struct program *made, int n_options, const char *const *options) {
  for (int i = 0; i < n_options; ++i) {
    char *longer = joined(made->code, options[i]);
    free(made->code);
    made->code = longer;
  }
  char *whole = joined(made->code, made->source);
  free(made->code);
  made->code = whole;
  return 0;
}

int hiprtcGetProgramLogSize(struct program *made, size_t *size) {
  (void)made;
  *size = 1;
  return 0;
}

int hiprtcGetProgramLog(struct program *made, char *log) {
  (void)made;
  *log = 0;
  return 0;
}

int hiprtcGetCodeSize(struct program *made, size_t *size) {
  *size = strlen(made->code);
  return 0;
}

int hiprtcGetCode(struct program *made, char *code) {
  memcpy(code, made->code, strlen(made->code));
  return 0;
}
