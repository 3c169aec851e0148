// `moorage call`: any method of the platform API over gRPC, with JSON in and out.
import { createRegistry, fromJson, toJson, type DescMethodUnary, type DescService, type JsonValue, type Registry } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import * as api from "@moorage/api";
import { readBootstrap, signToken } from "@moorage/server";
import type { Command } from "commander";
import { configOf, dataDirOf } from "./token.ts";

const CALL_TIMEOUT_MS = 30_000;
const TOKEN_TTL_MS = 300_000;

/** Every message and service the API package knows. */
export function apiRegistry(): Registry {
  return createRegistry(...Object.values(api).flatMap((value) => ("kind" in value && value.kind === "file" ? [value] : [])));
}

/** Finds a unary method by `package.Service/Method` or, shorter, `Service/Method`. Throws an Error that lists what there is. */
export function findMethod(registry: Registry, path: string): DescMethodUnary {
  const services = [...registry].filter((item): item is DescService => item.kind === "service");
  const [serviceName, methodName] = path.split("/");
  const service = services.find(({ typeName, name }) => typeName === serviceName || name === serviceName);
  const method = service?.methods.find((each): each is DescMethodUnary => each.name === methodName && each.methodKind === "unary");
  if (method !== undefined) return method;
  const known = (service ? [service] : services).flatMap(({ name, methods }) => methods.map((each) => `${name}/${each.name}`));
  throw new Error(`${path}: no such method; there are ${known.join(", ")}`);
}

/** A failed call as one line: the code as gRPC spells it, and the message. */
function failureLine(error: unknown): string {
  const { code, rawMessage } = ConnectError.from(error);
  return `${Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}: ${rawMessage}`;
}

/** Adds `moorage call`. The token is MOORAGE_TOKEN, or else the owner's, signed from the data folder. */
export function addCall(program: Command): void {
  program
    .command("call")
    .description("call a method of the platform API over gRPC")
    .argument("<method>", "such as ReposService/ListRepos")
    .argument("[json]", "the request", "{}")
    .option("--url <url>", "URL of the server (default: what bootstrap.json in the data folder says)")
    .option("--data-dir <folder>", "data folder of the server (MOORAGE_DATA_DIR, default ./data)")
    .action(async (path: string, json: string, { url, dataDir }: { url?: string; dataDir?: string }) => {
      const registry = apiRegistry();
      const method = findMethod(registry, path);
      const input = fromJson(method.input, parseJson(json), { registry });
      const folder = dataDirOf(dataDir);
      const token = process.env.MOORAGE_TOKEN || (await signToken({ config: configOf(folder), audience: "platform", ttlMs: TOKEN_TTL_MS })).token;
      const transport = createGrpcTransport({ baseUrl: url ?? readBootstrap(folder).baseUrl });
      try {
        const { message } = await transport.unary(method, undefined, CALL_TIMEOUT_MS, { authorization: `Bearer ${token}` }, input);
        console.log(JSON.stringify(toJson(method.output, message, { registry, alwaysEmitImplicit: true }), null, 2));
      } catch (cause) {
        throw new Error(failureLine(cause), { cause });
      }
    });
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new Error("the request is not JSON", { cause });
  }
}
