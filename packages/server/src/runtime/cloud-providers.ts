import type { Tokens } from "@moorage/platform/auth";
import { guardedFetch } from "@moorage/kernel/lib/guarded-fetch";
import type { Config } from "@moorage/kernel/config";
import type { AccountProviders } from "@moorage/kernel/core/service";

const FETCH_TIMEOUT_MS = 5_000;
// Responses are a few KiB.
const FETCH_MAX_BYTES = 64 * 1024;
const TOKEN_TTL_MS = 300_000;

type Settings = Pick<Config, "awsStsUrl" | "googleStsUrl" | "azureLoginUrl" | "allowPrivateNetwork" | "dnsServers">;

/**
 * The cloud providers of the settings, with tokens that grant nothing in this installation. `tokens` is called when the
 * first one is made.
 */
export function accountProviders(config: Settings, tokens: () => Pick<Tokens, "mint">): AccountProviders {
  const { awsStsUrl, googleStsUrl, azureLoginUrl, allowPrivateNetwork, dnsServers } = config;
  return {
    awsStsUrl,
    googleStsUrl,
    azureLoginUrl,
    fetch: guardedFetch({ allowPrivateNetwork, dnsServers, timeoutMs: FETCH_TIMEOUT_MS, maxBytes: FETCH_MAX_BYTES }),
    async idToken(group, audience, nowMs) {
      const { token } = await tokens().mint({
        type: "account",
        identity: group,
        audiences: [audience],
        ttlMs: TOKEN_TTL_MS,
        nowMs,
      });
      return token;
    },
  };
}
