/** The code of an error of the operating system or of Node, e.g. `ENOENT`. Undefined: it has none. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
