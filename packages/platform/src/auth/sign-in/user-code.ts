import { randomInt } from "node:crypto";

// No vowels, so that no words appear, and no Y, which is a vowel in some languages. Source: RFC 8628 §6.1.
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;

/** A code that a person types, one of 20^8. */
export function newUserCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/**
 * The code that a person typed, in either case, with or without spaces and hyphens; undefined for a text that cannot be
 * one.
 */
export function readUserCode(text: string): string | undefined {
  const code = text.slice(0, 64).toUpperCase().replace(/[\s-]/g, "");
  return code.length === LENGTH && [...code].every((letter) => LETTERS.includes(letter)) ? code : undefined;
}

/** The code as it is shown to people, with a hyphen. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
