// Calls of any method of the platform API over gRPC, with JSON in and out.
import {
  createRegistry,
  fromJson,
  toJson,
  type DescMethodUnary,
  type DescService,
  type JsonValue,
  type Registry,
} from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import type { ServerFlags } from "./caller.ts";
import { connect } from "./connection.ts";

/** Every message and service of the API package. */
export function apiRegistry(): Registry {
  return createRegistry(
    ...Object.values(api).flatMap((value) => ("kind" in value && value.kind === "file" ? [value] : [])),
  );
}

/**
 * Finds a unary method by `package.Service/Method` or, shorter, `Service/Method`. Throws an Error that lists the
 * existing ones.
 */
export function findMethod(registry: Registry, path: string): DescMethodUnary {
  const services = [...registry].filter((item): item is DescService => item.kind === "service");
  const [serviceName, methodName] = path.split("/");
  const service = services.find(({ typeName, name }) => typeName === serviceName || name === serviceName);
  const method = service?.methods.find(
    (each): each is DescMethodUnary => each.name === methodName && each.methodKind === "unary",
  );
  if (method !== undefined) return method;
  const known = (service ? [service] : services).flatMap(({ name, methods }) =>
    methods.map((each) => `${name}/${each.name}`),
  );
  throw new Error(`${path}: no such method; there are ${known.join(", ")}`);
}

/** Calls a method with a request in JSON, and prints the response as JSON. Throws an Error when it fails. */
export async function callMethod(path: string, json: string, flags: ServerFlags): Promise<void> {
  const registry = apiRegistry();
  const method = findMethod(registry, path);
  const input = fromJson(method.input, parseJson(json), { registry });
  const { ask } = await connect(flags);
  console.log(
    JSON.stringify(toJson(method.output, await ask(method, input), { registry, alwaysEmitImplicit: true }), null, 2),
  );
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new Error("the request is not JSON", { cause });
  }
}
