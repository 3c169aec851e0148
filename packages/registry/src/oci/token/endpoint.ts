import { ANONYMOUS } from "@moorage/kernel/core/call";
import type { RequestHandler } from "@moorage/kernel/core/http";
import { invalidArgument } from "@moorage/kernel/errors";
import { countsAsAnonymous, mirrored } from "../mirror-host.ts";
import { type Exchange, openExchange, type RegistryDeps, tokenUrl } from "../request.ts";
import { RegistryError } from "../errors.ts";
import { answerError } from "../answer-error.ts";
import { send } from "../send.ts";
import { wholeBodyOf } from "../body.ts";
import {
  badCredential,
  callerOf,
  type Credential,
  headerCredential,
  isUnknownCredential,
  organizationsOf,
} from "../credentials.ts";
import { centerLogin } from "./center.ts";
import { grantedScopes, type LeftOut } from "./grants.ts";
import { CATALOG_SCOPE, parseScopes, type RepositoryScope, type Scopes } from "./scopes.ts";

/** The dependencies of the token endpoint, beside those of the registry. */
export interface TokenDeps extends RegistryDeps {
  /** The lifetime of a registry token; one hour at most. */
  registryTokenTtlMs: number;
}

const CATALOG_ACCESS = { type: "registry" as const, name: "catalog", actions: ["*"] };
const MAX_FORM_BYTES = 65_536;
const MAX_LOGGED_SCOPES = 10;
const MAX_LOGGED_CHARACTERS = 200;
const MAX_REFUSED = 2;
const MAX_NS = 300;
// A token with many more scopes is as long as it may be.
const MAX_GRANTED = 10;

/**
 * GET and POST of `/token`: the distribution token protocol and its OAuth 2 form (grant_type `password` or
 * `refresh_token`). Answers a registry token for those of the requested scopes that the caller has rights for;
 * malformed and unknown ones are left out like those without the rights. Without credentials the token is anonymous.
 * `service` and `account` are ignored: there is one service, and the credential names the identity. Answers 400 for too
 * many scopes, 401 for invalid credentials. The handler answers every request itself and never throws. Source:
 * docs/contract.md, "Registry tokens".
 */
export function tokenEndpoint(deps: TokenDeps): RequestHandler {
  return async (req, res, data) => {
    const url = req.url ?? "/";
    const cut = url.indexOf("?");
    const exchange = openExchange(req, res, data, deps, "", new URLSearchParams(cut < 0 ? "" : url.slice(cut + 1)));
    try {
      exchange.steps.admit();
      const mirror = deps.addresses.mirror(req);
      if (mirror !== undefined)
        exchange.mirror = { ...mirror, ns: exchange.query.get("ns")?.slice(0, MAX_NS), name: "" };
      await answerToken(deps, exchange);
    } catch (error) {
      answerError(exchange, error);
    }
  };
}

async function answerToken(deps: TokenDeps, exchange: Exchange): Promise<void> {
  const { req, query, callData } = exchange;
  if (req.method !== "GET" && req.method !== "POST") {
    throw new RegistryError("UNSUPPORTED", "The method is not supported here", { headers: { allow: "GET, POST" } });
  }
  const parameters = req.method === "POST" ? await readForm(exchange) : query;
  const asked = parseScopes(parameters.getAll("scope"));
  if ("problem" in asked) throw invalidArgument({ field: "scope", description: asked.problem });
  const wanted = await atMirror(exchange, asked);
  const credential = req.method === "POST" ? formCredential(parameters) : givenCredential(exchange);
  const organizations = organizationsOf(wanted.scopes.map(({ name }) => name));
  // Before the credentials are checked, which is most of the work. Who sends invalid ones is stopped by his address.
  await exchange.data.turn?.begin(credential === undefined ? "" : (organizations[0] ?? ""));
  let atCenter: RepositoryScope[] = [];
  const caller = await exchange.steps.identify(async () => {
    if (credential === undefined) return ANONYMOUS;
    const authenticate = (): string => basicChallenge(exchange);
    try {
      const login = await centerLogin(exchange, credential, wanted.scopes, authenticate);
      if (login === undefined)
        return await callerOf(deps.credentials, credential, { organizations, authenticate, callData });
      atCenter = login.granted;
      return login.caller;
    } catch (error) {
      return await unlessAnonymous(exchange, error);
    }
  });
  const others = wanted.scopes.filter(({ name }) => !atCenter.some((scope) => scope.name === name));
  const { granted: here, leftOut } = await deps.transactor.read({ ...callData, caller }, (call) =>
    grantedScopes(call, deps.config, others),
  );
  const granted = [...atCenter, ...here];
  // The protocol leaves scopes out without an error, so the log says which, and which rights were missing.
  const unusable = wanted.unusable.slice(0, MAX_LOGGED_SCOPES).map((text) => text.slice(0, MAX_LOGGED_CHARACTERS));
  if (leftOut.length + unusable.length > 0 && (caller.identity !== "" || caller.center !== undefined)) {
    deps.log.info(
      {
        requestId: callData.requestId,
        identity: caller.identity,
        ...(caller.center && { center: caller.act }),
        leftOut: leftOut.slice(0, MAX_LOGGED_SCOPES),
        ...(unusable.length > 0 && { unusable }),
      },
      "scopes left out of a registry token",
    );
  }
  const { token, issuedAtMs, expiresAtMs } = await deps.credentials.tokens.mint({
    type: "registry",
    identity: caller.identity,
    audiences: [deps.config.registryAudience],
    ttlMs: deps.registryTokenTtlMs,
    nowMs: callData.nowMs,
    access: [
      ...granted.map(({ name, actions }) => ({ type: "repository" as const, name, actions })),
      // What the catalog lists depends on the caller's rights, so everybody may ask for it.
      ...(wanted.catalog ? [CATALOG_ACCESS] : []),
    ],
    // They grant nothing: by them a HEAD of who is about to push is known.
    refused: granted.length > MAX_GRANTED ? [] : refusedOf(leftOut),
    // The token never grants more than the one it was exchanged for, and never expires later.
    ...(caller.expiresAtMs !== undefined && { notAfterMs: caller.expiresAtMs }),
    ...(caller.act && { act: caller.act }),
    ...(caller.center && { center: caller.center }),
    ...(caller.external && { external: caller.external }),
    ...(caller.capabilities && { capabilities: caller.capabilities }),
    ...(caller.scopes && { scopes: caller.scopes }),
    ...(caller.session !== undefined && { session: caller.session }),
    ...(caller.personalToken !== undefined && { personalToken: caller.personalToken }),
  });
  const body = {
    token,
    access_token: token,
    expires_in: Math.max(0, expiresAtMs - issuedAtMs) / 1000,
    issued_at: new Date(issuedAtMs).toISOString(),
  };
  const scope = [
    ...granted.map(({ name, actions }) => `repository:${name}:${actions.join(",")}`),
    ...(wanted.catalog ? [CATALOG_SCOPE] : []),
  ].join(" ");
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  const answer = req.method === "POST" ? { ...body, scope, token_type: "Bearer" } : body;
  // Scopes, tokens and times are ASCII: as a string the body is sent together with the headers, in one write.
  send(exchange, 200, headers, JSON.stringify(answer));
}

/**
 * The scopes that are meant at the mirror host that was called, for pulling alone. Clients ask for the scope of the
 * challenge, and beside it for that of the name as they know it, which is the same image; others are left out.
 */
async function atMirror(exchange: Exchange, asked: Scopes): Promise<Scopes> {
  const { mirror } = exchange;
  if (mirror === undefined) return asked;
  const names = new Set<string>();
  for (const { name, actions } of asked.scopes) {
    if (!actions.includes("pull")) continue;
    const path = name.startsWith(`${mirror.group}/`) ? name : (await mirrored(exchange, name))?.path;
    if (path !== undefined) names.add(path);
  }
  return { scopes: [...names].map((name) => ({ name, actions: ["pull"] })), catalog: false, unusable: asked.unusable };
}

/** The anonymous caller, where credentials that are not known count as none. Throws the error otherwise. */
async function unlessAnonymous(exchange: Exchange, error: unknown): Promise<typeof ANONYMOUS> {
  if (isUnknownCredential(error) && (await countsAsAnonymous(exchange))) return ANONYMOUS;
  throw error;
}

/** Names of repositories to which a push was left out. Clients push to one at a time. */
function refusedOf(leftOut: readonly LeftOut[]): string[] {
  return leftOut
    .filter(({ action }) => action === "push")
    .map(({ repository }) => repository)
    .slice(0, MAX_REFUSED);
}

/** Undefined without credentials. Throws UNAUTHORIZED when the header is malformed. */
function givenCredential(exchange: Exchange): Credential | undefined {
  const credential = headerCredential(exchange.req.headers.authorization);
  if (credential === "malformed") throw badCredential(basicChallenge(exchange));
  return credential;
}

function basicChallenge(exchange: Exchange): string {
  return `Basic realm="${tokenUrl(exchange)}", charset="UTF-8"`;
}

function formCredential(form: URLSearchParams): Credential {
  const grant = form.get("grant_type");
  if (grant === "password") return { user: form.get("username") ?? "", secret: form.get("password") ?? "" };
  if (grant === "refresh_token") return { user: "", secret: form.get("refresh_token") ?? "" };
  throw invalidArgument({ field: "grant_type", description: "must be password or refresh_token" });
}

async function readForm(exchange: Exchange): Promise<URLSearchParams> {
  const tooLarge = (): RegistryError =>
    new RegistryError("SIZE_INVALID", `Invalid argument: the form is larger than ${MAX_FORM_BYTES} bytes`, {
      status: 413,
    });
  return new URLSearchParams((await wholeBodyOf(exchange, MAX_FORM_BYTES, tooLarge)).toString());
}
