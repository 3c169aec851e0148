// Settings of Harbor's projects that have no equivalent here, or are made by hand: an item says so of each.
// Source: Harbor's api/v2.0/swagger.yaml.
import { isList } from "@moorage/kernel/lib/json";
import { type Fields, type Project, textIn } from "./harbor-api.ts";
import { isTrue } from "./harbor-gate.ts";
import type { SourcePolicy } from "./model.ts";

const MAX_EVENTS = 20;
const MAX_EVENT = 64;

/** How many images of a project there are, and how many of them a time of their last pull is known of. */
export interface PullTimes {
  images: number;
  pulled: number;
}

/** What cannot come of a project's settings. */
export function* projectSettings({ name, metadata }: Project, pulls: PullTimes | undefined): Generator<SourcePolicy> {
  const cannot = (what: string, fault: string): SourcePolicy => ({
    kind: "setting",
    source: `${name}: ${what}`,
    below: name,
    fault,
  });
  if (isTrue(metadata["enable_content_trust_cosign"]) || isTrue(metadata["enable_content_trust"]))
    yield cannot(
      "only signed images",
      "there any signature is enough, here it must be that of a signer: make a signature policy",
    );
  if (pulls !== undefined && pulls.pulled > 0)
    yield cannot(
      "times of last pulls",
      `known of ${pulls.pulled} of ${pulls.images} images; here pulls are counted from the first one on`,
    );
}

/** A webhook of a project, without its address, which may hold a secret. */
export function webhookPolicy(project: string, hook: Fields): SourcePolicy {
  const { event_types: types, enabled } = hook;
  const events = isList(types) ? types.filter((each) => typeof each === "string") : [];
  const named = events.slice(0, MAX_EVENTS).map((each) => each.slice(0, MAX_EVENT).toWellFormed());
  const more = events.length > named.length ? ` and ${events.length - named.length} more` : "";
  const label = textIn(hook, "name") === "" ? String(hook["id"]) : textIn(hook, "name");
  return {
    kind: "webhook",
    source: `${project}: webhook ${label}`,
    below: project,
    fault: [
      `${enabled === false ? "disabled there; " : ""}for ${named.length === 0 ? "no events" : named.join(", ")}${more}`,
      "the body of events differs here, so its receiver has to change: make a subscription",
    ].join("; "),
  };
}
