/* A template of an implementation, in C with nothing but libc: copy it and put your own in place of `take` and `run`.

   It answers the lines of PROTOCOL.md. What it executes are functions of one loop over float32, recognised by their
   text; to all else it says `unsupported`, which is never counted as a fault.

       def NAME(A: T.Buffer((N,), "float32"), …, R: T.Buffer((N,), "float32")):
           for i in range(N):
               R[i] = A[i] + B[i]                 also - * /, T.sqrt(A[i]), T.fabs(A[i])

   Build and ask:   cc -O1 -o template template.c -lm && refmlc conform --impl 'cmd:./template'                    */

#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[4096], *module;

/* Where the value of a key begins in a line of JSON, from `at` on; a quote in a text has a backslash before it. */
static char *value(char *at, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  for (char *found = at; (found = strstr(found, quoted)) != NULL; found++)
    if (found == at || found[-1] != '\\') return found + strlen(quoted) + strspn(found + strlen(quoted), " ");
  return NULL;
}

/* The text of a string of JSON, made anew; what is not ASCII becomes `?`. */
static char *text(const char *at) {
  char *made = malloc(strlen(at) + 1), *to = made;
  if (made == NULL) exit(1);
  for (at++; *at != '"' && *at != '\0'; at++) {
    if (*at != '\\') {
      *to++ = *at;
      continue;
    }
    at++;
    if (*at == 'u') {
      char code[5] = {at[1], at[2], at[3], at[4], 0};
      long number = strtol(code, NULL, 16);
      *to++ = number < 128 ? (char)number : '?';
      at += 4;
    } else {
      *to++ = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at == 'r' ? '\r' : *at;
    }
  }
  *to = '\0';
  return made;
}

/* A function that is taken: how many operands, how many elements, and what is done to them. */
struct loop {
  int operands;
  long count;
  char how;
};

/* Recognise the function that begins at `def`; 0 where it is not taken. */
static int recognised(const char *def, struct loop *loop) {
  char names[3][32], left[32], first[32], second[32], op;
  long count = 0, extent = 0;
  int buffers = 0, used = 0;
  const char *at = strchr(def, '(');
  if (at == NULL) return 0;
  for (at++;; at += 2) {
    const char *form = "%31[A-Za-z0-9_]: T.Buffer((%ld,), \"float32\")%n";
    if (buffers == 3 || sscanf(at, form, names[buffers], &extent, &used) != 2 || used == 0) return 0;
    if (buffers++ > 0 && extent != count) return 0;
    count = extent;
    at += used;
    used = 0;
    if (*at != ',') break;
  }
  if (sscanf(at, "): for i in range(%ld): %31[A-Za-z0-9_][i] = %n", &extent, left, &used) != 2 || used == 0) return 0;
  if (extent != count || strcmp(left, names[buffers - 1]) != 0) return 0;
  at += used;
  used = 0;
  const char *form = "%31[A-Za-z0-9_][i] %c %31[A-Za-z0-9_][i]%n";
  if (buffers == 3 && sscanf(at, form, first, &op, second, &used) == 3 && used > 0) {
    if (strcmp(first, names[0]) != 0 || strcmp(second, names[1]) != 0 || strchr("+-*/", op) == NULL) return 0;
  } else if (buffers == 2 && sscanf(at, "T.%7[a-z](%31[A-Za-z0-9_][i])%n", second, first, &used) == 2 && used > 0) {
    if (strcmp(first, names[0]) != 0 || (strcmp(second, "sqrt") != 0 && strcmp(second, "fabs") != 0)) return 0;
    op = second[0];
  } else {
    return 0;
  }
  at += used + strspn(at + used, " \n");
  if (*at != '\0' && strncmp(at, "@T.prim_func", 12) != 0) return 0; /* more than that one statement */
  *loop = (struct loop){buffers - 1, count, op};
  return 1;
}

static float *elements(const char *name, const char *mode, float *data, long count) {
  char path[8192];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, mode);
  float *held = data == NULL ? calloc((size_t)count + 1, sizeof *held) : data;
  if (file == NULL || held == NULL) exit(1);
  size_t done = data == NULL ? fread(held, 4, (size_t)count, file) : fwrite(held, 4, (size_t)count, file);
  if (fclose(file) != 0 || done != (size_t)count) exit(1);
  return held;
}

/* Execute `loop` on the tensors of the line; 0 where they are not what it takes. The host is little-endian. */
static int run(const struct loop *loop, char *args) {
  char *names[3], *at = args;
  for (int number = 0; number <= loop->operands; number++) {
    if ((at = value(at, "file")) == NULL) return 0;
    names[number] = text(at++);
  }
  if (value(at, "kind") != NULL) return 0; /* one more argument */
  float *a = elements(names[0], "rb", NULL, loop->count);
  float *b = loop->operands == 2 ? elements(names[1], "rb", NULL, loop->count) : a;
  for (long i = 0; i < loop->count; i++)
    a[i] = loop->how == '+' ? a[i] + b[i] : loop->how == '-' ? a[i] - b[i] : loop->how == '*' ? a[i] * b[i]
         : loop->how == '/' ? a[i] / b[i] : loop->how == 's' ? sqrtf(a[i]) : fabsf(a[i]);
  elements(names[loop->operands], "wb", a, loop->count);
  return 1;
}

int main(void) {
  char *line = NULL;
  size_t room = 0;
  struct loop loop;
  while (getline(&line, &room, stdin) > 0) {
    char *what = value(line, "do"), *args = value(line, "args"), def[512] = "";
    if (what == NULL || strncmp(what, "\"close\"", 7) == 0) break;
    if (strncmp(what, "\"hello\"", 7) == 0) {
      snprintf(folder, sizeof folder, "%s", text(value(line, "folder")));
      puts("{\"name\": \"template-c\"}");
    } else if (strncmp(what, "\"prepare\"", 9) == 0) {
      free(module);
      module = text(value(line, "module"));
      puts("{\"ok\": true}");
    } else {
      snprintf(def, sizeof def, "def %.400s(", text(value(line, "func")));
      char *found = strstr(module, def);
      if (found == NULL || !recognised(found, &loop) || !run(&loop, args))
        puts("{\"stop\": \"unsupported\", \"message\": \"no loop over float32 that is taken\"}");
      else /* the same tensors: the last one's file has other elements now */
        printf("{\"value\": {\"kind\": \"null\"}, \"args\": %.*s}\n", (int)(strrchr(args, ']') - args + 1), args);
    }
    fflush(stdout);
  }
  return 0;
}
