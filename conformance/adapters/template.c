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
    int escaped = *at == '\\';
    at += escaped;
    if (escaped && *at == 'u') {
      long code = strtol((char[]){at[1], at[2], at[3], at[4], 0}, NULL, 16);
      *to++ = code < 128 ? (char)code : '?';
      at += 4;
    } else {
      *to++ = !escaped ? *at : *at == 'n' ? '\n' : *at == 't' ? '\t' : *at == 'r' ? '\r' : *at;
    }
  }
  *to = '\0';
  return made;
}

/* The end of the object of JSON that begins at `at`. */
static char *end(char *at) {
  for (int depth = 0, quoted = 0; *at != '\0'; at++) {
    if (*at == '\\') at++;
    else if (*at == '"') quoted = !quoted;
    else if (!quoted && *at == '{') depth++;
    else if (!quoted && *at == '}' && --depth == 0) return at + 1;
  }
  return at;
}

/* A function that is taken: how many operands, how many elements, and what is done to them. */
struct loop { int operands; long count; char how; };

#define NAME "%31[A-Za-z0-9_]"
#define BUFFER NAME ": T.Buffer((%ld,), \"float32\")"
#define BODY "): for i in range(%ld): " NAME "[i] = "
#define TWO "def %*[A-Za-z0-9_](" BUFFER ", " BUFFER ", " BUFFER BODY NAME "[i] %7[-+*/] " NAME "[i]%n"
#define ONE "def %*[A-Za-z0-9_](" BUFFER ", " BUFFER BODY "T.%7[a-z](" NAME "[i])%n"

/* Recognise the function that begins at `def`; 0 where it is not taken. */
static int recognised(const char *def, struct loop *loop) {
  char a[32], b[32], r[32], left[32], first[32], second[32], how[8];
  long n, m, of_r, times;
  int used = 0, two = sscanf(def, TWO, a, &n, b, &m, r, &of_r, &times, left, first, how, second, &used) == 11;
  if (!two && sscanf(def, ONE, a, &n, r, &of_r, &times, left, how, first, &used) != 8) return 0;
  if (used == 0 || of_r != n || times != n || strcmp(left, r) != 0 || strcmp(first, a) != 0) return 0;
  if (two && (m != n || strcmp(second, b) != 0 || how[1] != '\0')) return 0;
  if (!two && strcmp(how, "sqrt") != 0 && strcmp(how, "fabs") != 0) return 0;
  const char *rest = def + used + strspn(def + used, " \n");
  if (*rest != '\0' && strncmp(rest, "@T.prim_func", 12) != 0) return 0; /* more than that one statement */
  *loop = (struct loop){two ? 2 : 1, n, how[0]};
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

/* Answer a request: the line, or one of a batch, which has a number. */
static void answer(char *line) {
  char *what = value(line, "do"), *args = value(line, "args"), *id = value(line, "id"), def[512] = "";
  struct loop loop;
  if (what == NULL || strncmp(what, "\"close\"", 7) == 0) exit(0);
  if (id == NULL) putchar('{'); else printf("{\"id\": %ld, ", strtol(id, NULL, 10));
  if (strncmp(what, "\"hello\"", 7) == 0) {
    snprintf(folder, sizeof folder, "%s", text(value(line, "folder")));
    puts("\"name\": \"template-c\", \"batch\": 48}");
  } else if (strncmp(what, "\"prepare\"", 9) == 0) {
    free(module);
    module = text(value(line, "module"));
    puts("\"ok\": true}");
  } else {
    snprintf(def, sizeof def, "def %.400s(", text(value(line, "func")));
    char *found = strstr(module, def);
    if (found == NULL || !recognised(found, &loop) || !run(&loop, args))
      puts("\"stop\": \"unsupported\", \"message\": \"no loop over float32 that is taken\"}");
    else /* the same tensors: the last one's file has other elements now */
      printf("\"value\": {\"kind\": \"null\"}, \"args\": %.*s}\n", (int)(strrchr(args, ']') - args + 1), args);
  }
  fflush(stdout);
}

int main(void) {
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    char *requests = value(line, "requests"), *next = requests == NULL ? line : requests + 1;
    for (char *at = next; *at == '{'; at = next + strspn(next, ", ")) {
      next = end(at);
      char after = *next;
      *next = '\0';
      answer(at);
      *next = after;
    }
  }
  return 0;
}
