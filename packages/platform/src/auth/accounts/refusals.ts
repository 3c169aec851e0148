import { failedPrecondition, type MoorageError } from "@moorage/kernel/errors";

/** Of accounts that cannot be made: they are switched off, or the organization has an identity provider. */
export function noAccounts(): MoorageError {
  return failedPrecondition({
    type: "NO_ACCOUNTS_HERE",
    subject: "account",
    description: "no account can be made here: sign in through an identity provider",
  });
}

/** Of a password without an app where the organization asks for both. */
export function secondFactorNeeded(): MoorageError {
  return failedPrecondition({
    type: "SECOND_FACTOR_NEEDED",
    subject: "account",
    description: "the organization asks for an authenticator app beside a password",
  });
}
