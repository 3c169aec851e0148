import { SessionsService, PersonalTokensService } from "@moorage/api/messages";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { resealAccounts } from "./accounts/reseal.ts";
import { authBelow } from "./below.ts";
import { AUTH_CHECKS } from "./checks.ts";
import { authCommands } from "./commands.ts";
import { personalTokensService } from "./personal-tokens/service.ts";
import { sessionsService } from "./sign-in/sessions.ts";
import { AUTH_TABLES } from "./tables.ts";
import { resealKeys } from "./tokens/keys.ts";

export const authArea: Area = {
  name: "auth",
  tables: AUTH_TABLES,
  below: authBelow,
  checks: AUTH_CHECKS,
  async reseal(tx, secrets) {
    await resealKeys(tx, secrets);
    await resealAccounts(tx, secrets);
  },
  services: [served(SessionsService, sessionsService), served(PersonalTokensService, personalTokensService)],
  commands: authCommands,
};
