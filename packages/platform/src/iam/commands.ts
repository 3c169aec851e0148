import { whileFull } from "@moorage/kernel/core/command";
import { grantOwner } from "./grant-owner.ts";
import { signIn } from "./sign-in.ts";

/** The commands of iam beside the methods of the API. */
export const iamCommands = [grantOwner, ...whileFull([signIn])] as const;
