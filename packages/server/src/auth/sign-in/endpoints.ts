import type { Config } from "../../config/index.ts";
import type { RequestHandler } from "../../core/http.ts";
import { callDataOf, guarded, type StsDeps } from "../http/endpoints.ts";
import { authorizeDoor, callbackDoor, signInDoor } from "./browser-endpoints.ts";
import { hostCookie } from "./cookies.ts";
import { deviceAuthorizationDoor, devicePageDoor } from "./device-endpoints.ts";
import { createGuesses } from "./guess-limit.ts";
import type { SignInRoom } from "./index.ts";
import { revokeDoor } from "./revoke-endpoint.ts";
import { sessionDoor, sessionTokenDoor } from "./session-endpoints.ts";

export interface SignInDoorDeps extends Pick<StsDeps, "clock" | "answerError"> {
  config: Pick<Config, "baseUrl" | "oauthRedirectUris">;
  signIn: SignInRoom;
}

/** The doors through which people sign in and out, by path. */
export function createSignInDoors(deps: SignInDoorDeps): Record<string, RequestHandler> {
  const { config, clock, signIn } = deps;
  const shared = {
    config,
    ...signIn,
    callData: callDataOf(clock),
    guesses: createGuesses(),
    browserCookie: hostCookie("moorage_sign_in", config.baseUrl),
    sessionCookie: hostCookie("moorage_session", config.baseUrl),
  };
  return {
    "/oauth/authorize": guarded(deps, ["GET"], authorizeDoor(shared)),
    "/oauth/callback": guarded(deps, ["GET"], callbackDoor(shared)),
    "/oauth/device_authorization": guarded(deps, ["POST"], deviceAuthorizationDoor(shared)),
    "/oauth/device": guarded(deps, ["GET", "POST"], devicePageDoor(shared)),
    "/oauth/revoke": guarded(deps, ["POST"], revokeDoor(shared)),
    "/sign-in": guarded(deps, ["GET"], signInDoor(shared)),
    "/session": guarded(deps, ["GET", "DELETE"], sessionDoor(shared)),
    "/session/token": guarded(deps, ["POST"], sessionTokenDoor(shared)),
  };
}
