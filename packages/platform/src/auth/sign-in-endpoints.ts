import type { Config } from "@moorage/kernel/config";
import type { Addresses } from "@moorage/kernel/core/addresses";
import type { RequestHandler } from "@moorage/kernel/core/http";
import { callDataOf, guarded, type StsDeps } from "./http/endpoints.ts";
import { SHARED_CALLBACK } from "../iam/index.ts";
import { createAccountEndpoints } from "./accounts/endpoints.ts";
import { createAccountGuesses } from "./accounts/guesses.ts";
import { createPasswords } from "./accounts/passwords.ts";
import { beginSession, sessionLinksEndpoint } from "./sign-in/begin-session.ts";
import { authorizeEndpoint, callbackEndpoint, parametersOf, signInEndpoint } from "./sign-in/browser-endpoints.ts";
import { hostCookie } from "./sign-in/cookies.ts";
import { deviceAuthorizationEndpoint, devicePageEndpoint } from "./sign-in/device-endpoints.ts";
import { createGuesses } from "./sign-in/guess-limit.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import { providerListEndpoint } from "./sign-in/provider-list.ts";
import { revokeEndpoint } from "./sign-in/revoke-endpoint.ts";
import { sessionEndpoint, sessionTokenEndpoint } from "./sign-in/session-endpoints.ts";

export interface SignInEndpointDeps extends Pick<StsDeps, "clock" | "answerError"> {
  config: Pick<Config, "baseUrl" | "oauthRedirectUris" | "localAccounts" | "publicOrganization" | "smtpUrl">;
  addresses: Pick<Addresses, "platform">;
  signIn: SignIn;
}

/** The endpoints by which people sign in and out, by path; see `paths` of the router's handlers. */
export function createSignInEndpoints(deps: SignInEndpointDeps): Record<string, RequestHandler> {
  const { config, addresses, clock, signIn } = deps;
  const shared = {
    config,
    addresses,
    ...signIn,
    callData: callDataOf(clock),
    guesses: createGuesses(),
    // Names of organizations and codes of devices are counted apart, and so are links.
    names: createGuesses(),
    links: createGuesses(),
    browserCookie: hostCookie("moorage_sign_in", config.baseUrl),
    sessionCookie: hostCookie("moorage_session", config.baseUrl),
  };
  const session = sessionEndpoint(shared);
  const callback = guarded(deps, ["GET"], callbackEndpoint(shared));
  const [authorize, devicePage] = [authorizeEndpoint(shared), devicePageEndpoint(shared)];
  return {
    ...createAccountEndpoints({
      ...shared,
      answerError: deps.answerError,
      guesses: createAccountGuesses(),
      passwords: createPasswords(),
      knownCookie: hostCookie("moorage_browser", config.baseUrl),
    }),
    // The entry for browsers: a program's request, or the page on which the code of a device is typed.
    "/oauth": guarded(deps, ["GET"], (request, response, data) =>
      (parametersOf(request).has("client_id") ? authorize : devicePage)(request, response, data),
    ),
    "/oauth/authorize": guarded(deps, ["GET"], authorize),
    [SHARED_CALLBACK]: callback,
    [`${SHARED_CALLBACK}/*`]: callback,
    "/oauth/device_authorization": guarded(deps, ["POST"], deviceAuthorizationEndpoint(shared)),
    "/oauth/device": guarded(deps, ["GET", "POST"], devicePage),
    "/oauth/providers": guarded(deps, ["GET"], providerListEndpoint(shared)),
    "/oauth/revoke": guarded(deps, ["POST"], revokeEndpoint(shared)),
    "/sign-in": guarded(deps, ["GET"], signInEndpoint(shared)),
    "/session": guarded(deps, ["GET", "POST", "DELETE"], (request, response, data) =>
      request.method === "POST" ? beginSession(shared, request, response, data) : session(request, response, data),
    ),
    "/session/links": guarded(deps, ["POST"], sessionLinksEndpoint(shared)),
    "/session/token": guarded(deps, ["POST"], sessionTokenEndpoint(shared)),
  };
}
