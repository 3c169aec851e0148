import {
  create,
  type DescMethod,
  getOption,
  hasOption,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { http as httpOption } from "@moorage/api/gen/google/api/annotations_pb";

const VARIABLE = /\{([^=}]+)(?:=[^}]*)?\}/g;

/** A call by REST. */
export interface RestCall {
  verb: string;
  path: string;
  body: JsonValue | undefined;
}

/**
 * The REST call for the request by its google.api.http annotation, implemented apart from the server's transcoding so
 * that faults of that are found. Undefined when the method has no binding.
 */
export function restCallOf(method: DescMethod, request: Message): RestCall | undefined {
  if (!hasOption(method, httpOption)) return undefined;
  const main = getOption(method, httpOption);
  const rest = toJson(method.input, create(method.input, request), { useProtoFieldName: true }) as JsonObject;
  // The first binding whose path parameters all have values.
  const rule =
    [main, ...main.additionalBindings].find(({ pattern }) =>
      [...String(pattern.value).matchAll(VARIABLE)].every(
        ([, field = ""]) => take({ ...rest }, field.split(".")) !== "",
      ),
    ) ?? main;
  const { case: verb, value: template } = rule.pattern;
  if (verb === undefined || verb === "custom") throw new Error(`${method.toString()} has no standard binding`);
  // The value of a variable that is one segment has its slashes escaped.
  const path = template.replace(VARIABLE, (variable, field: string) => {
    const value = take(rest, field.split("."));
    return variable.endsWith("=*}") ? value.replaceAll("/", "%2F") : value;
  });
  let body: JsonValue | undefined;
  if (rule.body === "*") body = rest;
  else if (rule.body !== "") {
    const isList = method.input.fields.some(({ name, fieldKind }) => name === rule.body && fieldKind === "list");
    body = rest[rule.body] ?? (isList ? [] : {});
    delete rest[rule.body];
  }
  const query = rule.body === "*" ? [] : parametersOf(rest, "");
  return { verb: verb.toUpperCase(), path: query.length === 0 ? path : `${path}?${query.join("&")}`, body };
}

function take(json: JsonObject, [name = "", ...rest]: string[]): string {
  const value = json[name];
  if (rest.length > 0) {
    const inner = { ...(value as JsonObject | undefined) };
    json[name] = inner;
    return take(inner, rest);
  }
  delete json[name];
  return typeof value === "string" ? value : "";
}

function parametersOf(json: JsonObject, prefix: string): string[] {
  return Object.entries(json).flatMap(([name, value]) => {
    // Messages that repeat are given as JSON.
    if (Array.isArray(value) && typeof value[0] === "object")
      return [`${prefix}${name}=${encodeURIComponent(JSON.stringify(value))}`];
    if (Array.isArray(value)) return value.map((one) => `${prefix}${name}=${encodeURIComponent(String(one))}`);
    if (typeof value === "object" && value !== null) return parametersOf(value, `${prefix}${name}.`);
    return [`${prefix}${name}=${encodeURIComponent(String(value))}`];
  });
}
