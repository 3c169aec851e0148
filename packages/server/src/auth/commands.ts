import { whileFull } from "../core/command.ts";
import { denyDevice, openDevice, pollDevice } from "./sign-in/device-commands.ts";
import { finishSignIn, openSignIn, takeSignIn } from "./sign-in/flow-commands.ts";
import { notePersonalTokensUsed } from "./tokens/personal-commands.ts";
import { redeemCode, revokeRefreshToken } from "./sign-in/grant-commands.ts";
import { beginByToken, makeLink, takeLink } from "./sign-in/link-commands.ts";
import { endSession, seeSession } from "./sign-in/session-commands.ts";
import { noteAllSeen, noteSeen, rotateKeys, rotateRefreshToken, storeRefreshToken } from "./tokens/commands.ts";

/** All commands of authentication and sign-in. */
export const authCommands = whileFull([
  beginByToken,
  denyDevice,
  endSession,
  finishSignIn,
  makeLink,
  noteAllSeen,
  notePersonalTokensUsed,
  noteSeen,
  openDevice,
  openSignIn,
  pollDevice,
  redeemCode,
  revokeRefreshToken,
  rotateKeys,
  rotateRefreshToken,
  seeSession,
  storeRefreshToken,
  takeLink,
  takeSignIn,
]);
