import { checkedUrl } from "@moorage/kernel/lib/guarded-fetch";
import { MATCHED_FORMATS } from "../matching/record-affects.ts";
import { COVERS_ALL, COVERS_NONE, isEcosystem } from "./ecosystems.ts";
import { FEED_FORMATS, type FeedFormat, isFeedFormat } from "../records/formats.ts";

/** What an operator says about a feed. */
export interface FeedDefinition {
  /** Letters, digits, dots, dashes and underscores; 1 to 64. */
  name: string;
  format: FeedFormat;
  /** Where it is fetched from; empty for a feed that is only imported. */
  address: string;
  /** Under which its data may be used: shown with the data. */
  licence: string;
  /** How often it is fetched, in milliseconds. */
  intervalMs: number;
  /** Of a feed of VEX documents: the products whose state it may decide, as prefixes of purls. */
  products: string[];
  /**
   * Of a feed whose records are about packages: the ecosystems and releases, as OSV names them, that it covers by the
   * word of whoever sets it; `*` for all that it has records about, `none` for nothing. Defaults to what its preset is
   * about, and to `*` of a feed that is no preset.
   */
  covers?: string[];
}

/** A definition is wrong. The message names the field. */
export class FeedDefinitionError extends Error {
  /** The field that is wrong, and what is; the field is empty for what is about no single one. */
  readonly field: string;
  readonly problem: string;

  constructor(problem: string, field = "") {
    super(field === "" ? problem : `${field}: ${problem}`);
    this.field = field;
    this.problem = problem;
  }
}

/** How often a feed is fetched for which nothing is said, in milliseconds. */
export const DEFAULT_FEED_INTERVAL_MS = 6 * 3_600_000;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MAX_LICENCE_LENGTH = 500;
const MAX_ADDRESS_LENGTH = 2_000;
const MAX_PRODUCTS = 100;
const MAX_COVERS = 100;
const MINUTE_MS = 60_000;
const MAX_INTERVAL_MS = 365 * 86_400_000;

/** The most feeds of an installation. */
export const MAX_FEEDS = 100;

/** The definition, if it is right. Throws a FeedDefinitionError that names the field. */
export function checkedDefinition(
  given: { [Field in keyof FeedDefinition]: Field extends "format" ? string : FeedDefinition[Field] },
  rules: { allowPrivateNetwork: boolean },
): FeedDefinition {
  const { name, format, address, licence, intervalMs, products, covers = [] } = given;
  if (!NAME.test(name)) throw wrong("name", "must be 1 to 64 letters, digits, dots, dashes and underscores");
  if (!isFeedFormat(format)) throw wrong("format", `must be one of ${Object.keys(FEED_FORMATS).join(", ")}`);
  if (address !== "") checkAddress(address, rules);
  if (licence.trim() === "" || licence.length > MAX_LICENCE_LENGTH || /\p{C}/u.test(licence))
    throw wrong("licence", `must be one line of at most ${MAX_LICENCE_LENGTH} characters, such as CC-BY-4.0`);
  if (/(?:^|[^a-z])(?:nd|no[- ]?derivatives)(?:[^a-z]|$)/i.test(licence))
    throw wrong("licence", "does not allow derivatives, and what is matched with it would be one");
  if (!(intervalMs >= MINUTE_MS && intervalMs <= MAX_INTERVAL_MS)) throw wrong("interval", "must be from 1m to 365d");
  if (products.length > MAX_PRODUCTS || products.some((each) => !/^pkg:[^\p{C}\s]{1,500}$/u.test(each)))
    throw wrong("products", `must be at most ${MAX_PRODUCTS} beginnings of purls, such as pkg:oci/app`);
  if (products.length > 0 && !format.includes("vex"))
    throw wrong("products", "only feeds of VEX documents decide about products");
  if (covers.length > MAX_COVERS) throw wrong("covers", `must be at most ${MAX_COVERS} ecosystems`);
  if (covers.length > 0 && !isMatchedFormat(format)) throw wrong("covers", "is for feeds of records about packages");
  if (covers.includes(COVERS_NONE) && covers.length > 1) throw wrong("covers", "none stands alone");
  const unknown = covers.find((each) => each !== COVERS_ALL && each !== COVERS_NONE && !isEcosystem(each));
  if (unknown !== undefined)
    throw wrong("covers", `${unknown.slice(0, 100)} is no ecosystem that is matched here, such as npm or Debian:12`);
  const said = covers.length > 0 && { covers };
  return { name, format, address, licence: licence.trim(), intervalMs, products, ...said };
}

const isMatchedFormat = (format: string): boolean => (MATCHED_FORMATS as readonly string[]).includes(format);

function checkAddress(address: string, rules: { allowPrivateNetwork: boolean }): void {
  if (address.length > MAX_ADDRESS_LENGTH) throw wrong("address", `is longer than ${MAX_ADDRESS_LENGTH} characters`);
  try {
    checkedUrl(address, rules);
  } catch (error) {
    throw wrong("address", error instanceof Error ? error.message : String(error));
  }
}

const wrong = (field: string, problem: string): FeedDefinitionError => new FeedDefinitionError(problem, field);
