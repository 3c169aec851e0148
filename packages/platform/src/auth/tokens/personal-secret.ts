import { hash, randomInt } from "node:crypto";

/** What every personal token begins with, so that people and scanners of secrets recognize one. */
const PREFIX = "mrg_pat_";
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LENGTH = 40;
const HINT_LENGTH = 4;
const FORM = /^mrg_pat_[A-Za-z0-9]{40}$/;

/** A new random personal token, of 238 bits. Letters and digits alone: no client has to escape them. */
export function newPersonalToken(): string {
  return PREFIX + Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/** Whether the text has the form of a personal token of ours. */
export function isPersonalToken(text: string): boolean {
  return FORM.test(text);
}

/** What is stored of a personal token: its SHA-256 in hex. */
export function hashOfPersonalToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** The last characters, by which people distinguish their tokens. */
export function hintOf(token: string): string {
  return token.slice(-HINT_LENGTH);
}
