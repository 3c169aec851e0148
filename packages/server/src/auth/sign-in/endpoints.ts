import type { Config } from "../../config/index.ts";
import type { RequestHandler } from "../../core/http.ts";
import { callDataOf, guarded, type StsDeps } from "../http/endpoints.ts";
import { SHARED_CALLBACK } from "../../iam/index.ts";
import { authorizeEndpoint, callbackEndpoint, signInEndpoint } from "./browser-endpoints.ts";
import { hostCookie } from "./cookies.ts";
import { deviceAuthorizationEndpoint, devicePageEndpoint } from "./device-endpoints.ts";
import { createGuesses } from "./guess-limit.ts";
import type { SignIn } from "./index.ts";
import { providerListEndpoint } from "./provider-list.ts";
import { revokeEndpoint } from "./revoke-endpoint.ts";
import { sessionEndpoint, sessionTokenEndpoint } from "./session-endpoints.ts";

export interface SignInEndpointDeps extends Pick<StsDeps, "clock" | "answerError"> {
  config: Pick<Config, "baseUrl" | "oauthRedirectUris">;
  signIn: SignIn;
}

/** The endpoints by which people sign in and out, by path; see `paths` of the router's handlers. */
export function createSignInEndpoints(deps: SignInEndpointDeps): Record<string, RequestHandler> {
  const { config, clock, signIn } = deps;
  const shared = {
    config,
    ...signIn,
    callData: callDataOf(clock),
    guesses: createGuesses(),
    browserCookie: hostCookie("moorage_sign_in", config.baseUrl),
    sessionCookie: hostCookie("moorage_session", config.baseUrl),
  };
  const callback = guarded(deps, ["GET"], callbackEndpoint(shared));
  return {
    "/oauth/authorize": guarded(deps, ["GET"], authorizeEndpoint(shared)),
    [SHARED_CALLBACK]: callback,
    [`${SHARED_CALLBACK}/*`]: callback,
    "/oauth/device_authorization": guarded(deps, ["POST"], deviceAuthorizationEndpoint(shared)),
    "/oauth/device": guarded(deps, ["GET", "POST"], devicePageEndpoint(shared)),
    // Names of organizations and codes of devices are counted apart.
    "/oauth/providers": guarded(deps, ["GET"], providerListEndpoint({ ...shared, guesses: createGuesses() })),
    "/oauth/revoke": guarded(deps, ["POST"], revokeEndpoint(shared)),
    "/sign-in": guarded(deps, ["GET"], signInEndpoint(shared)),
    "/session": guarded(deps, ["GET", "DELETE"], sessionEndpoint(shared)),
    "/session/token": guarded(deps, ["POST"], sessionTokenEndpoint(shared)),
  };
}
