/** A method of the platform API: where it is called, and the types of its request and its answer. */
export interface Method<Input, Output> {
  readonly verb: string;
  /** A path whose variables name fields of the request, `{uid=**}` one whose value may contain slashes. */
  readonly path: string;
  /** The field of the request that is the body; `*` for all that is not in the path; empty without a body. */
  readonly body: string;
  /** Never set: for the compiler. */
  readonly types?: { input: Input; output: Output };
}

/** Declares a method. Source: google/api/http.proto. */
export function method<Input, Output>(verb: string, path: string, body = ""): Method<Input, Output> {
  return { verb, path, body };
}

/** The parts of an HTTP request. */
export interface Target {
  /** The path with its query. */
  url: string;
  /** JSON; undefined without a body. */
  body: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** The HTTP request for a call of the method. Fields that are in neither path nor body go to the query. */
export function targetOf<Input extends object>({ path, body }: Method<Input, unknown>, input: Input): Target {
  const used = new Set<string>();
  const filled = path.replaceAll(/\{([^}=]+)(=\*\*)?\}/g, (_, field: string) => {
    used.add(field);
    return String(valueAt(input as Fields, field) ?? "")
      .split("/")
      .map(encodeURIComponent)
      .join("/");
  });
  if (body === "*") return { url: filled, body: JSON.stringify(without(input as Fields, used)) };
  if (body !== "") used.add(body);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) if (!used.has(name)) addQuery(query, name, value);
  const text = query.toString();
  return {
    url: text === "" ? filled : `${filled}?${text}`,
    body: body === "" ? undefined : JSON.stringify((input as Fields)[body] ?? {}),
  };
}

function valueAt(input: Fields, field: string): unknown {
  return field.split(".").reduce<unknown>((value, part) => (value as Fields | undefined)?.[part], input);
}

function without(input: Fields, names: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name)));
}

function addQuery(query: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined || value === null || value === "") return;
  if (Array.isArray(value)) for (const each of value) addQuery(query, name, each);
  else if (typeof value === "object")
    for (const [part, inner] of Object.entries(value)) addQuery(query, `${name}.${part}`, inner);
  else query.append(name, String(value));
}
