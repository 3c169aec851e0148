import { whileFull } from "@moorage/kernel/core/command";
import { denyDevice, openDevice, pollDevice } from "./sign-in/device-commands.ts";
import { finishSignIn, openSignIn, takeSignIn } from "./sign-in/flow-commands.ts";
import { notePersonalTokensUsed } from "./tokens/personal-commands.ts";
import { redeemCode, revokeRefreshToken } from "./sign-in/grant-commands.ts";
import { beginByToken, makeLink, takeLink } from "./sign-in/link-commands.ts";
import { endSession, seeSession } from "./sign-in/session-commands.ts";
import { noteAllSeen, noteSeen, rotateKeys, rotateRefreshToken, storeRefreshToken } from "./tokens/commands.ts";

import { changeProof, makeAccount, makeOwnAccount, recoverAccount } from "./accounts/make-commands.ts";
import { changeAccount } from "./accounts/profile-commands.ts";
import { makeRecoveryLink } from "./accounts/recovery-links.ts";
import { signInAccount } from "./accounts/sign-in-commands.ts";

/** All commands of authentication and sign-in. */
export const authCommands = whileFull([
  beginByToken,
  changeAccount,
  changeProof,
  denyDevice,
  endSession,
  finishSignIn,
  makeAccount,
  makeLink,
  makeOwnAccount,
  makeRecoveryLink,
  noteAllSeen,
  notePersonalTokensUsed,
  noteSeen,
  openDevice,
  openSignIn,
  pollDevice,
  recoverAccount,
  redeemCode,
  revokeRefreshToken,
  rotateKeys,
  rotateRefreshToken,
  seeSession,
  signInAccount,
  storeRefreshToken,
  takeLink,
  takeSignIn,
]);
