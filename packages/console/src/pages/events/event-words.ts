import type { Event } from "../../api/gen/events.ts";
import { shortDigest } from "../../lib/digest.ts";

/** What an event is about, in a line: the image or the name in its body, or the uid that it happened to. */
export function subjectOf({ data, subject }: Event): string {
  const body = bodyOf(data);
  const repository = textOf(body["repository"]);
  if (repository !== "") {
    const tag = textOf(body["tag"]);
    const digest = textOf(body["digest"]);
    return repository + (tag !== "" ? `:${tag}` : digest !== "" ? `@${shortDigest(digest)}` : "");
  }
  return textOf(body["name"]) || textOf(body["sink"]) || subject;
}

const PREFIX = /^.*?\.(?=(?:api|registry|events|vulnerabilities|advisory)\.)/;

/** The type without what all types of the installation begin with. */
export function shortType(type: string): string {
  return type.replace(PREFIX, "");
}

function bodyOf(data: Readonly<Record<string, unknown>> | undefined): Readonly<Record<string, unknown>> {
  const body = data?.["body"];
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
