// As whom completion asks a server: as the command that is being typed would, but without waiting for a token.
import { originOf, platformToken } from "../caller.ts";
import { claimsOf } from "../claims.ts";
import { applyTrust, trustStored } from "../http/trust.ts";
import { readLogins } from "../credentials.ts";
import { type Cache, cacheFor, hashOf } from "./cache.ts";

/** A server and its address, with a token for it. */
export interface Place {
  readonly url: string;
  readonly token: string;
}

/** A server and a caller. */
export interface Caller {
  readonly cache: Cache;
  /** The server and a token; throws an Error where that would take long. */
  place(): Promise<Place>;
}

// A token with less time left could expire before the server checks it.
const SPARE_MS = 5_000;
// Of those that the owner's key signs for completion; they are good for 300 s.
const OWN_TOKEN_MS = 240_000;

/**
 * The server and the caller of a command line's flags. `patient`: a token that has expired is refreshed, and the
 * owner's is signed: that takes longer than an answer may, so that another process does it and leaves it in the cache.
 */
export async function callerOf(flags: ReadonlyMap<string, string>, patient: boolean): Promise<Caller> {
  const [context, url, token, dataDir] = ["context", "url", "token", "data-dir"].map((name) => flags.get(name));
  const caFile = flags.get("ca-file");
  await applyTrust({ ...(caFile && { caFile }) });
  const origin = await originOf({
    ...(context && { context }),
    ...(url && { url }),
    ...(token && { token }),
    ...(dataDir && { dataDir }),
  });
  switch (origin.kind) {
    case "given":
      return { cache: cacheFor(`${origin.url} ${hashOf(origin.token)}`), place: async () => origin };
    case "data folder": {
      const cache = cacheFor(`owner of ${origin.dataDir} at ${origin.url ?? "its server"}`);
      return {
        cache,
        async place() {
          const known = cache.read<Place>("token", OWN_TOKEN_MS);
          if (known !== undefined) return known;
          if (!patient) throw new Error("signing takes too long");
          const own = await platformToken(origin);
          cache.write("token", own);
          return own;
        },
      };
    }
    case "sign-in": {
      const login = readLogins()[origin.url];
      if (login === undefined) throw new Error("not signed in");
      const { accessToken, expiresAtMs, caFile: stored } = login;
      return {
        cache: cacheFor(`${origin.url} ${String(claimsOf(accessToken)["sub"])}`),
        async place() {
          if (patient) return platformToken(origin);
          if (expiresAtMs - SPARE_MS < Date.now()) throw new Error("the token has expired");
          await trustStored(`the sign-in to ${origin.url}`, stored);
          return { url: origin.url, token: accessToken };
        },
      };
    }
  }
}
