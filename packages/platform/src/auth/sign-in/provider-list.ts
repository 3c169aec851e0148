import type { RequestHandler } from "@moorage/kernel/core/http";
import { answerJson } from "../http/endpoints.ts";
import { required } from "./authorize.ts";
import { type BrowserDeps, parametersOf } from "./browser-endpoints.ts";
import { onJson } from "./device-endpoints.ts";
import { type OfferDeps, offeredProviders } from "./offered-providers.ts";

/** GET /oauth/providers?organization=<name, or path of a group>: the identity providers there. */
export function providerListEndpoint(deps: OfferDeps & Pick<BrowserDeps, "callData">): RequestHandler {
  return onJson(async (request, response, data) => {
    const path = required(parametersOf(request), "organization");
    answerJson(request, response, 200, {
      identity_providers: await offeredProviders(deps, path, deps.callData(request, data)),
    });
  });
}
