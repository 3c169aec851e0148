// Log-ins at an edge with pull tokens of its center.
import { createHmac } from "node:crypto";
import type { Call, Caller } from "@moorage/kernel/core/call";
import { resolveRepository } from "@moorage/kernel/core/image-path";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { isUid } from "@moorage/kernel/lib/uid";
import { isPullTokenIssuer } from "@moorage/platform/iam";
import {
  centersOf,
  heldPulls,
  type NotedPulls,
  noteCenterPulls,
  originOf,
  type StandIn,
  standInFor,
  standInOf,
} from "../../upstreams/index.ts";
import { badCredential, type Credential } from "../credentials.ts";
import type { Exchange } from "../request.ts";
import type { RepositoryScope } from "./scopes.ts";

/** What a pull token of a center gets here. */
export interface CenterLogin {
  caller: Caller;
  granted: RepositoryScope[];
}

/** A repository that is wanted: its path here, and what it is at the center. */
interface Wanted {
  path: string;
  standIn: StandIn;
}

const MAX_TOKEN = 8_192;
const MAX_DEPTH = 8;
const MAX_HOST = 300;

/** The registry that a pull token is for, and when it ends, in milliseconds since 1970; nothing of it is verified. */
function claimsOf(secret: string): { host: string; endMs: number | undefined } | undefined {
  if (secret.length > MAX_TOKEN) return undefined;
  const parts = secret.split(".", 4);
  if (parts.length !== 3) return undefined;
  let claims: unknown;
  try {
    claims = parseJson(Buffer.from(parts[1] ?? "", "base64url").toString(), MAX_DEPTH);
  } catch {
    return undefined;
  }
  if (!isObject(claims) || !isPullTokenIssuer(claims["iss"])) return undefined;
  const [host, ...others] = [claims["aud"]].flat();
  if (typeof host !== "string" || others.length > 0 || host.length > MAX_HOST) return undefined;
  const end = claims["exp"];
  return { host: host.toLowerCase(), endMs: typeof end === "number" ? Math.floor(end * 1000) : undefined };
}

/**
 * What the credential gets here when it is a pull token of a registry that groups here follow, and that is a Moorage:
 * what that says, or what it said last while it does not answer. Undefined for every other credential. Throws
 * UNAUTHORIZED for one that the center does not accept, and UNAVAILABLE when it does not answer and nothing is known.
 * Source: docs/standing-in-front.md, "Edges".
 */
export async function centerLogin(
  exchange: Exchange,
  { user, secret }: Credential,
  scopes: readonly RepositoryScope[],
  authenticate: () => string,
): Promise<CenterLogin | undefined> {
  const { deps, callData } = exchange;
  const { centers } = deps;
  const claims = isUid(user) ? claimsOf(secret) : undefined;
  if (centers === undefined || claims === undefined || claims.host === deps.config.registryAudience) return undefined;
  const { host, endMs } = claims;
  const found = await deps.transactor.read(callData, async (call) => {
    const rows = await centersOf(call.tx, host);
    return { rows, wanted: rows.length === 0 ? [] : await wantedOf(call, new Set(rows.map(({ uid }) => uid)), scopes) };
  });
  const [first] = found.rows;
  if (first === undefined) return undefined;
  if (endMs !== undefined && endMs <= callData.nowMs) throw badCredential(authenticate());
  const hash = createHmac("sha256", deps.pageTokenKey).update(`center pull token\0${user}\0${secret}`).digest("hex");
  const granted: RepositoryScope[] = [];
  const center: NonNullable<Caller["center"]> = [];
  let untilMs = endMs ?? Infinity;
  const upstreams = new Map<string, Wanted[]>();
  for (const each of found.wanted) upstreams.set(each.standIn.uid, [...(upstreams.get(each.standIn.uid) ?? []), each]);
  // Without a name, one of them says whether the token is good.
  const unnamed = found.rows.find(({ disabled }) => disabled === 0) ?? first;
  if (upstreams.size === 0) upstreams.set(unnamed.uid, []);
  for (const [upstream, wanted] of upstreams) {
    const names = [...new Set(wanted.map(({ standIn }) => standIn.name))];
    const token = { upstream, secret: hash };
    const held = await deps.transactor.read(callData, (call) =>
      names.length === 0 ? heldByAny(call, found.rows, hash) : heldPulls(call, token, ["", ...names]),
    );
    const isHeld = held.has("") && names.every((name) => held.has(name));
    const standIn = wanted[0]?.standIn ?? standInOf(unnamed, "");
    const said = await centers.ask(standIn, { user, secret, names, isHeld });
    if (said.kind === "no") {
      // The center means the token, by whichever group it was asked.
      for (const { uid } of found.rows) await forget(exchange, { upstream: uid, secret: hash }, endMs);
      throw badCredential(authenticate());
    }
    const may = new Set(said.kind === "yes" ? said.names : names.filter((name) => held.has(name)));
    if (said.kind === "silent") {
      if (!held.has("") || (names.length > 0 && may.size === 0)) throw away(host);
      for (const { untilMs: end } of held.values()) untilMs = Math.min(untilMs, end);
    } else {
      const refused = names.filter((name) => !may.has(name));
      await note(exchange, { ...token, granted: ["", ...may], refused, endMs });
    }
    for (const { path, standIn: there } of wanted)
      if (may.has(there.name)) {
        granted.push({ name: path, actions: ["pull"] });
        center.push({ upstream, name: there.name });
      }
  }
  const act = { iss: host, sub: user };
  return { caller: { identity: "", act, center, ...(untilMs < Infinity && { expiresAtMs: untilMs }) }, granted };
}

async function note(exchange: Exchange, pulls: NotedPulls): Promise<void> {
  const { transactor, log } = exchange.deps;
  const { isFull } = await transactor.write(noteCenterPulls, exchange.callData, pulls);
  if (isFull) log.info({ upstream: pulls.upstream }, "what a pull token may is not kept: too many names are");
}

async function forget(
  exchange: Exchange,
  token: Pick<NotedPulls, "upstream" | "secret">,
  endMs: NotedPulls["endMs"],
): Promise<void> {
  const held = await exchange.deps.transactor.read(exchange.callData, (call) => heldPulls(call, token, [""]));
  if (held.size > 0) await note(exchange, { ...token, granted: [], refused: [""], endMs });
}

/** Whether the token itself is known to be good, by any of the upstreams of its center. */
async function heldByAny(call: Call, rows: readonly { uid: string }[], secret: string): ReturnType<typeof heldPulls> {
  const held: Awaited<ReturnType<typeof heldPulls>> = new Map();
  for (const { uid } of rows)
    for (const [name, until] of await heldPulls(call, { upstream: uid, secret }, [""])) held.set(name, until);
  return held;
}

/** Those of the scopes that are of these upstreams, by the paths under which they are or would be here. */
async function wantedOf(
  call: Call,
  upstreams: ReadonlySet<string>,
  scopes: readonly RepositoryScope[],
): Promise<Wanted[]> {
  const wanted: Wanted[] = [];
  for (const { name: path, actions } of scopes) {
    if (!actions.includes("pull")) continue;
    const { repo, group } = await resolveRepository(call, path);
    const front = group === undefined ? undefined : await standInFor(call.tx, group, path.split("/"));
    const standIn = repo === undefined ? front?.standIn : await originOf(call.tx, repo);
    if (standIn !== undefined && upstreams.has(standIn.uid) && standIn.isAllowed) wanted.push({ path, standIn });
  }
  return wanted;
}

function away(host: string): MoorageError {
  return new MoorageError(
    Code.Unavailable,
    `${host} does not answer, and what this pull token may pull there is not known here`,
    { retryAfterMs: 5_000 },
  );
}
