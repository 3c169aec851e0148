import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromJson,
  getOption,
  hasOption,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { access as accessOption, SecurityTokenService } from "@moorage/api";
import { endOf } from "./grpc.ts";
import { pushImage } from "./image.ts";
import { type Platform, startPlatform } from "./platform.ts";
import type { MakeRequest, Place } from "./requests.ts";
import { restCallOf } from "./rest-call.ts";

/** Who calls: a stranger, those whose rights do not reach, a viewer and an owner. */
const WHO = ["stranger", "viewer", "elsewhere", "narrowedAway", "narrowedElsewhere", "owner"] as const;
export type Who = (typeof WHO)[number];
export type Outcome = "ok" | "empty" | "NOT_FOUND" | "PERMISSION_DENIED" | "UNAUTHENTICATED";

/** A platform with a token for each caller, and those that no method accepts. */
export interface Callers {
  platform: Platform;
  place: Place;
  worthless: Record<string, string | undefined>;
  tokens: Record<Who, string>;
  viewerCapabilities: string[];
}

const OTHER_AUDIENCES = ["the registry's", "one for elsewhere"];

/** Starts a platform with an image in the repo `acme/team/app`. */
export async function startCallers(): Promise<Callers> {
  const platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "true" });
  const { organization: root, owner, url } = platform;
  const { uid: group } = await platform.group(root, { name: "team" });
  const { uid: other } = await platform.group(root);
  const digest = await pushImage(platform, "acme/team/app", "v1");
  const [repo] = (await platform.ok("GET", "/registry/v2/repos?name=app"))["repos"] as { uid: string }[];

  const deleted = await platform.identity(root, "owner");
  const worthless = {
    none: undefined,
    garbage: "not-a-token",
    expired: await platform.token(owner, { ttlMs: -60_000 }),
    "the registry's": await platform.token(owner, { audience: new URL(url).host }),
    "one for elsewhere": await platform.token(owner, { audience: "https://elsewhere.example" }),
    "a deleted identity's": await platform.token(deleted),
  };
  await platform.ok("DELETE", `/iam/v2/identities/${deleted}`);
  const narrowed = async (query: string): Promise<string> => {
    const answer = await platform.call("GET", `/sts/exchange?${query}`, { token: await platform.token() });
    assert.equal(answer.status, 200, answer.text);
    return String(answer.body["token"]);
  };
  const tokens = {
    stranger: await platform.token(await platform.identity(root)),
    viewer: await platform.token(await platform.identity(root, "viewer")),
    elsewhere: await platform.token(await platform.identity(other, "owner")),
    narrowedAway: await narrowed("cap=CAP_VULN_REPORT_LIST"),
    narrowedElsewhere: await narrowed(`scopes=${other}`),
    owner: await platform.token(),
  };
  const viewerCapabilities = (await platform.ok("GET", `/iam/v2/roles/${await platform.role("viewer")}`))[
    "capabilities"
  ] as string[];
  return { platform, place: { group, repo: repo?.uid ?? "", digest }, worthless, tokens, viewerCapabilities };
}

const CODES: Record<number, Outcome> = { 5: "NOT_FOUND", 7: "PERMISSION_DENIED", 16: "UNAUTHENTICATED" };
const HTTP: Record<number, number> = { 5: 404, 7: 403, 16: 401 };
interface Result {
  outcome: Outcome | number;
  answer: unknown;
}

async function byRest(
  platform: Platform,
  method: DescMethod,
  request: Message,
  token: string | undefined,
): Promise<Result> {
  const rest = restCallOf(method, request);
  assert.ok(rest);
  const { status, headers, body, text } = await platform.call(rest.verb, rest.path, { token, body: rest.body });
  if (status !== 200) {
    assert.equal(status, HTTP[body.code], text);
    return { outcome: CODES[body.code] ?? body.code, answer: body };
  }
  // The answer to a delete has no body.
  if (method.output.typeName === EmptySchema.typeName)
    assert.deepEqual([rest.verb, headers["content-length"], text], ["DELETE", "0", ""]);
  return { outcome: "ok", answer: toJson(method.output, fromJson(method.output, text === "" ? {} : JSON.parse(text))) };
}

async function byGrpc(
  platform: Platform,
  method: DescMethodUnary | DescMethodServerStreaming,
  request: Message,
  token: string | undefined,
): Promise<Result> {
  const { message, error } = isUnary(method)
    ? await platform.grpc.call(method, request, token)
    : await firstOf(platform, method, request, token);
  if (message !== undefined) return { outcome: "ok", answer: toJson(method.output, message) };
  assert.ok(error);
  const { code } = error;
  return { outcome: CODES[code] ?? code, answer: error };
}

/** The first message of a stream. */
async function firstOf(
  platform: Platform,
  method: DescMethodServerStreaming,
  request: Message,
  token: string | undefined,
) {
  const enough = new AbortController();
  try {
    for await (const message of platform.grpc.stream(method, request, token, enough.signal)) return { message };
    return { error: null };
  } catch (error) {
    return { error: endOf(error) };
  } finally {
    enough.abort();
  }
}

/** A caller without rights sees an empty list: only built-in roles, which have no organization in their uid. */
function outcomeOf({ organization }: Platform, result: Result, wanted: Outcome): Outcome | number {
  if (wanted !== "empty" || result.outcome !== "ok") return result.outcome;
  return JSON.stringify(result.answer).includes(`${organization}/`) ? "ok" : "empty";
}

/** The part of an error that does not depend on the request, as the request's uids do. */
function shapeOf(answer: unknown): unknown {
  const { code, details = [] } = answer as {
    code?: number;
    details?: { "@type": string; reason?: string; domain?: string; resourceType?: string }[];
  };
  return {
    code,
    details: details.map(({ reason, domain, resourceType, ...rest }) => ({
      type: rest["@type"],
      reason,
      domain,
      resourceType,
    })),
  };
}

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";
const isStream = (method: DescMethod): method is DescMethodServerStreaming => method.methodKind === "server_streaming";

/** The rules of a set of services. */
export interface Rules {
  /** The requests of all methods, by full name. */
  requests(callers: Callers): Map<string, MakeRequest>;
  expected(method: DescMethod, who: Who, callers: Callers): Outcome;
}

/** Tests of every method, by REST and gRPC, with the tokens of all callers. */
export function testEveryMethod(services: readonly DescService[], callersNow: () => Callers, rules: Rules): void {
  let requests: Map<string, MakeRequest> | undefined;
  for (const service of services) {
    describe(service.typeName, () => {
      for (const method of service.methods) {
        test(method.name, async () => {
          assert.ok(isUnary(method) || isStream(method), "is one that is served");
          assert.ok(hasOption(method, accessOption), "has an access rule");
          const callers = callersNow();
          const { platform, worthless, tokens } = callers;
          requests ??= rules.requests(callers);
          const make = requests.get(`${service.typeName}.${method.name}`);
          assert.ok(make, "there is a request for the method");
          const isPublic = getOption(method, accessOption).public && service.typeName !== SecurityTokenService.typeName;
          const hasRest = restCallOf(method, create(method.input)) !== undefined;
          const rejections: Record<string, unknown>[] = [];
          for (const call of hasRest ? [byRest, byGrpc] : [byGrpc]) {
            const request = await make();
            const seen: Record<string, unknown> = {};
            for (const [name, token] of Object.entries(worthless)) {
              // The exchange reads tokens of every audience, and has an error of its own for those that it cannot
              // exchange.
              if (service.typeName === SecurityTokenService.typeName && OTHER_AUDIENCES.includes(name)) continue;
              const answer = await call(platform, method, request, token);
              assert.equal(
                answer.outcome,
                isPublic ? "ok" : "UNAUTHENTICATED",
                `${call.name}, ${name}: ${JSON.stringify(answer)}`,
              );
              seen[name] = shapeOf(answer.answer);
            }
            // The owner last: its success shows that the request was valid and that no caller before had succeeded.
            for (const who of WHO) {
              const wanted = rules.expected(method, who, callers);
              const answer = await call(platform, method, request, tokens[who]);
              assert.equal(
                outcomeOf(platform, answer, wanted),
                wanted,
                `${call.name}, ${who}: ${JSON.stringify(answer)}`,
              );
              if (answer.outcome !== "ok") seen[who] = shapeOf(answer.answer);
            }
            rejections.push(seen);
          }
          if (rejections[1] !== undefined) assert.deepEqual(rejections[0], rejections[1], "REST and gRPC refuse alike");
        });
      }
    });
  }
}
