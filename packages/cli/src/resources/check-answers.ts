import { textIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";

/** Whether the answer of a method that checks something says that it does not work, by the method. */
const FAILED: Readonly<Record<string, (answer: JsonObject) => boolean>> = {
  "moorage.events.v2.SubscriptionsService/TestSink": (answer) => answer["delivered"] !== true,
  "moorage.iam.v2.AccountAssociationsService/CheckAccountAssociation": isNotReady,
  "moorage.iam.v2.IdentitiesService/CheckIdentity": isNotReady,
};

function isNotReady(answer: JsonObject): boolean {
  return textIn(answer, "status").endsWith("NOT_READY");
}

/** Whether what the method checked does not work: a script that runs the command is to end then. */
export function saysItFails(method: string, answer: JsonObject): boolean {
  return FAILED[method]?.(answer) === true;
}
