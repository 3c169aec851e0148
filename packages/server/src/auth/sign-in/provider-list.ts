import { providersIn } from "../../iam/index.ts";
import type { RequestHandler } from "../../core/http.ts";
import type { Database } from "../../store/index.ts";
import { answerJson } from "../http/endpoints.ts";
import { OAuthError } from "../http/oauth.ts";
import { required } from "./authorize.ts";
import { type BrowserDeps, parametersOf } from "./browser-endpoints.ts";
import { onJson } from "./device-endpoints.ts";
import type { Guesses } from "./guess-limit.ts";

export interface ProviderListDeps extends Pick<BrowserDeps, "callData"> {
  reader: Database;
  /** Counts names that found nothing. */
  guesses: Guesses;
}

/**
 * GET /oauth/providers?organization=<name, or path of a group>: the identity providers there, for a person who is to
 * choose one by name. It needs no token, so the caller must know the name: a name that is not there is answered like
 * one without providers, and only some wrong ones are answered.
 */
export function providerListEndpoint({ reader, guesses, callData }: ProviderListDeps): RequestHandler {
  return onJson(async (request, response, data) => {
    const path = required(parametersOf(request), "organization");
    const { remoteAddress, nowMs } = callData(request, data);
    if (!guesses.mayGuess(remoteAddress, nowMs))
      throw new OAuthError(429, "slow_down", "too many wrong names were asked for: try again in ten minutes");
    const providers = await providersIn(reader, path);
    if (providers.length === 0) guesses.failed(remoteAddress, nowMs);
    answerJson(request, response, 200, { identity_providers: providers });
  });
}
