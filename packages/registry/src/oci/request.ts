import type { Auditor } from "@moorage/kernel/audit";
import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import type { Addresses } from "@moorage/kernel/core/addresses";
import { ANONYMOUS, type CallData, type Caller } from "@moorage/kernel/core/call";
import type { Request, RequestData, Response } from "@moorage/kernel/core/http";
import { RequestSteps } from "@moorage/kernel/core/request-steps";
import type { ResponseCache } from "@moorage/kernel/core/response-cache";
import type { TermsDocument } from "@moorage/kernel/core/service";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { Code, type ErrorDetails, MoorageError } from "@moorage/kernel/errors";
import type { Awaitable } from "@moorage/kernel/lib/awaitable";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { Database } from "@moorage/kernel/store";
import { withRejectedCaller } from "@moorage/platform/auth";
import type { JudgeSignedPull } from "../trust/index.ts";
import { isRepositoryName } from "./digests.ts";
import { RegistryError } from "./errors.ts";
import { capabilityNames, PULL, PUSH } from "./names.ts";
import type { Centers, StandIns, Upstream } from "./other-registries.ts";
import {
  badCredential,
  callerOf,
  type CredentialDeps,
  headerCredential,
  isBasic,
  organizationsOf,
} from "./credentials.ts";
import type { JudgePull, PullCounter } from "../registry/index.ts";
import type { GateRecorder } from "./records/gate-recorder.ts";
import type { SignatureRecorder } from "./records/signature-recorder.ts";
import type { PullRecorder } from "./records/recorder.ts";
import type { PullAnswer } from "./answers.ts";

/** The settings of the registry. Without `gcGraceMs` there is no garbage collection. */
export interface RegistryConfig
  extends
    Pick<
      Config,
      | "registryUrl"
      | "registryAudience"
      | "historySegments"
      | "freeTierTags"
      | "publicOrganization"
      | "errorDomain"
      | "maxManifestBytes"
      | "uploadTtlMs"
    >,
    Partial<Pick<Config, "gcGraceMs" | "blobsRedirectTtlMs" | "blobsInternalPath">> {
  /** How long a client may send or take nothing before its connection is closed. Defaults to one minute. */
  idleTimeoutMs?: number;
}

export interface RegistryDeps {
  transactor: Transactor;
  /** Without it, groups that stand for other registries serve what is here. */
  standIns?: StandIns;
  /** Without it, pull tokens of centers are not known here. */
  centers?: Centers;
  /** Optional source registry; without it, missing content is answered with 404. */
  upstream?: Upstream;
  /** The response cache of pulls. */
  pulls: ResponseCache<PullAnswer>;
  /** Records pulls. Without it pulls have no events. */
  pullRecorder?: Pick<PullRecorder, "note"> | undefined;
  /** Counts pulls. Without it there are no statistics of them. */
  pullCounter?: Pick<PullCounter, "note"> | undefined;
  /** Judges pulls from repos with a vulnerability gate. */
  judgePull: JudgePull;
  /** Whether the scan with the uid is under way at present. */
  isScanUnderWay(tx: Database, uid: string): Promise<boolean>;
  /** Records what gates make of pulls. */
  gateNotes: Pick<GateRecorder, "note">;
  /** Judges pulls by the policies of signatures. */
  judgeSigned: JudgeSignedPull;
  /** Records what these policies make of pulls. */
  signatureNotes: Pick<SignatureRecorder, "note">;
  /** Records rejected requests. */
  auditor: Pick<Auditor, "note">;
  blobs: BlobStore;
  /**
   * Verifies the Authorization header for the audience. The caller of an anonymous registry token has an empty identity
   * and `repositories`. Throws UNAUTHENTICATED without a valid token, PERMISSION_DENIED for a token of another
   * audience.
   */
  authenticate(authorization: string | undefined, audience: "registry", nowMs: number): Awaitable<Caller>;
  /** Checks user names and passwords. */
  credentials: CredentialDeps;
  config: RegistryConfig;
  /** The documents that a push may require to be accepted. */
  terms: readonly TermsDocument[];
  /** Signs the ids of uploads; all processes of the installation have the same. */
  pageTokenKey: Uint8Array;
  /** Under which URL a client reaches the registry. */
  addresses: Pick<Addresses, "registry" | "mirror" | "isProxied">;
  clock: Clock;
  log: { error(fields: object, message: string): void; info(fields: object, message: string): void };
  /** The AIP-193 form of an error: code, message, details. */
  statusJson(error: MoorageError, area: string, errorDomain: string): object;
}

/**
 * One request to the registry. `caller` and `callData` are those of the anonymous caller until `authorize` sets them.
 */
export interface Exchange {
  req: Request;
  res: Response;
  data: RequestData;
  steps: RequestSteps<PullAnswer>;
  deps: RegistryDeps;
  query: URLSearchParams;
  /** Headers that every answer has, names and values in turn. */
  everyAnswer: readonly string[];
  /** `<organization>/<image…>`; empty for `/v2/`. */
  name: string;
  caller: Caller;
  callData: CallData;
  /** The mirror host that the client called, and what it asked for there. */
  mirror?: CalledMirror | undefined;
}

/** A mirror host that a client called. */
interface CalledMirror {
  /** Its URL. */
  origin: string;
  /** The path of its group. */
  group: string;
  /** The registry that the client names: a key, by which nothing is connected to. Undefined when it names none. */
  ns: string | undefined;
  /** The name as the client called it. */
  name: string;
}

/** The actions of the distribution token protocol. */
export type Action = "pull" | "push" | "delete";

/**
 * Creates an exchange, before its caller is authenticated. The time of the call is read here, once. `headers`: what
 * every answer has beside the request's id.
 */
export function openExchange(
  req: Request,
  res: Response,
  data: RequestData,
  deps: RegistryDeps,
  name: string,
  query: URLSearchParams,
  headers: readonly string[] = [],
): Exchange {
  const userAgent = req.headers["user-agent"] ?? "";
  const callData = {
    caller: ANONYMOUS,
    requestId: data.requestId,
    nowMs: deps.clock.nowMs(),
    remoteAddress: data.remoteAddress,
    userAgent,
  };
  const steps = new RequestSteps(data, deps.pulls);
  const everyAnswer = ["x-request-id", data.requestId, ...headers];
  return { req, res, data, steps, deps, query, everyAnswer, name, caller: ANONYMOUS, callData };
}

/**
 * The WWW-Authenticate header that sends a client to the token endpoint, for a token with the scope. Source:
 * distribution token protocol, RFC 6750 §3.
 */
export function challenge(
  exchange: Pick<Exchange, "deps" | "req" | "mirror">,
  scope: string,
  error?: "invalid_token" | "insufficient_scope",
): string {
  const parts = [`realm="${tokenUrl(exchange)}"`, `service="${exchange.deps.config.registryAudience}"`];
  if (scope !== "") parts.push(`scope="${scope}"`);
  if (error) parts.push(`error="${error}"`);
  return `Bearer ${parts.join(",")}`;
}

/** The URL of the token endpoint, as the client reaches it. That of a mirror host keeps the registry asked for. */
export function tokenUrl({ deps: { addresses }, req, mirror }: Pick<Exchange, "deps" | "req" | "mirror">): string {
  if (mirror === undefined) return `${addresses.registry(req)}/token`;
  return `${mirror.origin}/token${mirror.ns === undefined ? "" : `?ns=${encodeURIComponent(mirror.ns)}`}`;
}

/** The scope for these actions on a repository, and for pulling from another one; empty without a name. */
export function scopeOf(name: string, actions: readonly Action[], source = ""): string {
  return name === ""
    ? ""
    : `repository:${name}:${actions.join(",")}${source === "" ? "" : ` repository:${source}:pull`}`;
}

/**
 * Whether the caller's token covers the actions on a repository, whatever the content; a platform token minted for the
 * registry covers every action.
 */
export function tokenCovers(caller: Caller, name: string, actions: Action[]): boolean {
  if (!caller.repositories) return true;
  const granted = caller.repositories
    .filter((repository) => repository.name === name && repository.digest === undefined)
    .flatMap((repository) => repository.actions);
  return actions.every((action) => granted.includes(action) || granted.includes("*"));
}

/**
 * The only manifest of the exchange's repository that the caller's token pulls, with what it consists of. Undefined for
 * a token that is not limited to a digest there.
 */
export function onlyDigest({ caller, name }: Pick<Exchange, "caller" | "name">): string | undefined {
  if (!caller.repositories || tokenCovers(caller, name, ["pull"])) return undefined;
  return caller.repositories.find((repository) => repository.name === name && repository.digest !== undefined)?.digest;
}

/** The error for what a token does not reach that is limited to a digest: the same, whether that is there or not. */
export function outOfReach(): RegistryError {
  return new RegistryError("DENIED", "Permission denied: the token pulls one image by its digest, and nothing else");
}

/**
 * The repository that a push wants to mount a blob from, which its token must cover for pulling as well. Empty without
 * one, or when its name is invalid.
 */
function mountSource({ query }: Exchange, actions: Action[]): string {
  const from = query.get("from") ?? "";
  return actions.includes("push") && query.has("mount") && isRepositoryName(from) ? from : "";
}

/** For `authorize`: a valid token for another audience is answered with 403 instead of a challenge. */
export const DENY_OTHER_AUDIENCES = { deniesOtherAudiences: true };

/**
 * Authenticates the caller and sets it in the exchange. For a named repository the `access` claim must cover the
 * actions; the rights of the identity are checked by `repositoryFor`, inside the transaction. Throws UNAUTHORIZED 401
 * with a challenge, also for a token of this repository that covers less, or DENIED 403. No repository is looked up
 * before that, so the errors do not reveal what exists.
 *
 * A token that is limited to a digest is rejected, unless the endpoint says by `checksDigest` that it calls
 * `requireReach` (oci/pulls/reach.ts) before it reads content.
 */
export async function authorize(
  exchange: Exchange,
  actions: Action[],
  options: { deniesOtherAudiences?: boolean; checksDigest?: boolean } = {},
): Promise<void> {
  const { name } = exchange;
  const asked: Action[] = actions.includes("push") && !actions.includes("pull") ? ["pull", ...actions] : actions;
  const scope = scopeOf(name, asked, mountSource(exchange, actions));
  const caller = await authenticate(exchange, scope, options);
  if (name === "" || tokenCovers(caller, name, actions)) return;
  if (onlyDigest(exchange) !== undefined) {
    const isPull = actions.every((action) => action === "pull");
    if (isPull && options.checksDigest === true) return;
    throw outOfReach();
  }
  const { words, detail } = notCovered(caller, name, actions);
  const others = caller.repositories?.map((repository) => repository.name) ?? [];
  // A client may exchange a token of this repository for one that covers more, which clients do only when they are
  // challenged.
  if (others.includes(name)) {
    // Whoever pulls without a log-in has a token, too, and may not know it.
    const what = caller.identity === "" ? "log in first" : "the token does not cover this action";
    const message = `Unauthenticated: ${what}: ${words}`;
    throw unauthorized(exchange, scope, message, "insufficient_scope", detail);
  }
  // Clients show this message to people, who may not know that they must log in, or that the token endpoint left out
  // actions they have no right to.
  const isPublic = name.startsWith(`${exchange.deps.config.publicOrganization}/`);
  const why =
    caller.identity === "" && (others.length === 0 || !isPublic)
      ? "log in first; without a log-in only public images are pulled"
      : others.length > 0 && !others.includes(name) && caller.refused?.includes(name) !== true
        ? `the token covers another repository: ${others.slice(0, MAX_NAMED).join(", ")}; ask for one for ${name}`
        : `the token does not cover this repository: ${words}`;
  throw new RegistryError("DENIED", `Permission denied: ${why}`, { detail, details: { metadata: detail } });
}

/**
 * Authenticates the caller, by a token or by a user name and password, and sets it in the exchange. Throws UNAUTHORIZED
 * 401 with a challenge for the scope, or DENIED 403.
 */
export async function authenticate(
  exchange: Exchange,
  scope: string,
  { deniesOtherAudiences = false }: { deniesOtherAudiences?: boolean } = {},
): Promise<Caller> {
  const { deps, callData } = exchange;
  const { authorization } = exchange.req.headers;
  const credential = isBasic(authorization) ? headerCredential(authorization) : "bearer";
  if (authorization === undefined || credential === undefined) throw unauthorized(exchange, scope, TOKEN_REQUIRED);
  const caller = await exchange.steps.identify(async () => {
    try {
      if (credential === "bearer")
        return (exchange.caller = await deps.authenticate(authorization, "registry", callData.nowMs));
      const rejected = (): string => challenge(exchange, scope, "invalid_token");
      if (credential === "malformed") throw badCredential(rejected());
      return (exchange.caller = await callerOf(deps.credentials, credential, {
        organizations: exchange.name === "" ? [] : organizationsOf([exchange.name]),
        authenticate: rejected,
        callData,
      }));
    } catch (error) {
      if (!(error instanceof MoorageError) || error instanceof RegistryError) throw error;
      if (error.code === Code.PermissionDenied && deniesOtherAudiences)
        throw withRejectedCaller(new RegistryError("DENIED", error.message, { details: error.details }), error);
      if (error.code === Code.Unauthenticated || error.code === Code.PermissionDenied)
        throw withRejectedCaller(
          unauthorized(
            exchange,
            scope,
            error.message.replace(/^Permission denied/, "Unauthenticated"),
            "invalid_token",
            undefined,
            error.details,
          ),
          error,
        );
      throw error;
    }
  });
  if (caller.identity === "" && !caller.repositories) throw unauthorized(exchange, scope, TOKEN_REQUIRED);
  exchange.callData = { ...callData, caller };
  return caller;
}

const TOKEN_REQUIRED = "Unauthenticated: a registry token is required";
const MAX_NAMED = 3;

/** The error that has the client get a token for the scope. */
export function unauthorized(
  exchange: Exchange,
  scope: string,
  message: string,
  error?: "invalid_token" | "insufficient_scope",
  detail?: Record<string, string>,
  details?: ErrorDetails,
): RegistryError {
  return new RegistryError("UNAUTHORIZED", message, {
    ...(details && { details }),
    ...(detail && { detail, details: { metadata: detail } }),
    headers: { "www-authenticate": challenge(exchange, scope, error) },
  });
}

/**
 * The actions that the token must cover, and the capabilities that an identity needs to get such a token. They follow
 * from the action alone, so that the error does not reveal what exists.
 */
function notCovered(
  caller: Caller,
  name: string,
  actions: Action[],
): { words: string; detail: Record<string, string> } {
  const uncovered = actions.filter((action) => !tokenCovers(caller, name, [action]));
  const needed = uncovered.map((action) => CAPABILITIES_FOR[action]);
  const identity = caller.identity === "" ? "an identity" : `identity ${caller.identity}`;
  return {
    words: `to ${uncovered.join(" and ")} ${name}, ${identity} needs a role binding with ${needed.join(" and ")} on a group of that path`,
    detail: { identity: caller.identity, capability: needed.join(" and "), repository: name },
  };
}

const CAPABILITIES_FOR: Record<Action, string> = {
  pull: capabilityNames(PULL).join(" and "),
  push: capabilityNames(PUSH).join(" and "),
  delete: "CAP_MANIFEST_DELETE or CAP_TAG_DELETE",
};
