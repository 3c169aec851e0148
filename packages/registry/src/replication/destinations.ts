import type { StreamClient } from "@moorage/kernel/lib/stream-client";
import { SecretError } from "@moorage/kernel/lib/secrets";
import type { Row } from "@moorage/kernel/store";
import { type Authorization, createAuthorization, type Credentials, UpstreamError } from "../mirroring/index.ts";
import type { ReplicationDeps } from "./context.ts";
import { credentialPlace } from "./credentials.ts";
import { nameAt, parseDestination } from "./destination.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import type { mountBlob } from "./target.ts";

/** A repo at a destination. */
export interface Opened {
  exchange: Exchange;
  /** Its name there. */
  name: string;
  /** Has the destination take a blob from its repo for another one of the rule, by that one's path here. */
  mount(repository: string, digest: string, signal: AbortSignal, by: typeof mountBlob): Promise<boolean>;
}

/** Opens the repo of an item at its destination. Throws an UpstreamError when that cannot be. */
export function openDestination(
  deps: ReplicationDeps,
  client: StreamClient,
  rule: Row<"replications">,
  { repository, deletes }: { repository: string; deletes: boolean },
): Opened {
  const destination = parseDestination(rule.destination);
  if (destination === undefined) throw new UpstreamError("wrong", "the destination is of no known form");
  const nameOf = (path: string): string | undefined => nameAt(destination, path, rule.flatten === 1);
  const name = nameOf(repository);
  if (name === undefined) throw new UpstreamError("wrong", "the name at the destination has more than 255 characters");
  const credentials = credentialsOf(deps, rule, destination.origin);
  const authorized = (...scopes: string[]): Authorization =>
    createAuthorization({ client, clock: deps.clock, scopes, credentials, party: "destination" });
  const own = `repository:${name}:pull,push${deletes ? ",delete" : ""}`;
  const exchange = openExchange({
    client,
    clock: deps.clock,
    origin: destination.origin,
    authorization: authorized(own),
  });
  const mounting = new Map<string, Authorization>();
  return {
    exchange,
    name,
    async mount(other, digest, signal, by) {
      const from = nameOf(other);
      if (from === undefined || from === name) return false;
      const authorization = mounting.get(from) ?? authorized(own, `repository:${from}:pull`);
      mounting.set(from, authorization);
      return await by(exchange, { name, from, digest, authorization }, signal);
    },
  };
}

/** How long an ID token is good for that is exchanged as soon as it is made. */
const TOKEN_TTL_MS = 300_000;

/** The password, or, for an identity of another Moorage, an ID token for that alone. */
function credentialsOf(
  deps: ReplicationDeps,
  rule: Row<"replications">,
  origin: string,
): Credentials | (() => Promise<Credentials>) {
  const { destination_identity: username, parent } = rule;
  if (username === "") return { username: rule.username, password: passwordOf(deps, rule) };
  return async () => {
    const nowMs = deps.clock.nowMs();
    const audiences = [origin];
    const minted = await deps.tokens.mint({
      type: "replication",
      identity: parent,
      audiences,
      ttlMs: TOKEN_TTL_MS,
      nowMs,
    });
    return { username, password: minted.token };
  };
}

function passwordOf({ secrets }: ReplicationDeps, { uid, credential }: Row<"replications">): string {
  if (credential === "") return "";
  try {
    return secrets.open(credential, credentialPlace(uid));
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    throw new UpstreamError("refused", `the password of the destination cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}
