import type { Config } from "../../config.ts";
import { type Door, guarded, callDataOf, type StsDeps } from "../sts.ts";
import { authorizeDoor, callbackDoor } from "./browser-doors.ts";
import { hostCookie } from "./cookies.ts";
import type { SignInRoom } from "./index.ts";

export interface SignInDoorDeps extends Pick<StsDeps, "clock" | "answerError"> {
  config: Pick<Config, "baseUrl" | "oauthRedirectUris">;
  signIn: SignInRoom;
}

/** The doors through which people sign in, by path. */
export function createSignInDoors(deps: SignInDoorDeps): Record<string, Door> {
  const { config, clock, signIn } = deps;
  const browser = {
    config, flow: signIn.flow, callData: callDataOf(clock),
    browserCookie: hostCookie("moorage_sign_in", config.baseUrl), sessionCookie: hostCookie("moorage_session", config.baseUrl),
  };
  return {
    "/oauth/authorize": guarded(deps, ["GET"], authorizeDoor(browser)),
    "/oauth/callback": guarded(deps, ["GET"], callbackDoor(browser)),
  };
}
