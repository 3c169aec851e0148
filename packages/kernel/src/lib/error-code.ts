/** The code of an error of the operating system or of Node, such as `ENOENT`. Undefined when the error has none. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
