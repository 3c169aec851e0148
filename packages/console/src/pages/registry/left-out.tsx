import { counted } from "../../lib/bytes.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import styles from "./left-out.module.css";

export interface LeftOutProps {
  /** Undefined: not known before the end of the list. */
  tags: number | undefined;
  /** Of how many of them it is not known whether they fit. */
  unknown: number;
  /** The letters that are looked for; empty without. */
  q: string;
  /** Whether all tags were looked at, or the server has counted them. */
  isWhole: boolean;
  /** Shows those of which it is not known; undefined where no filter does. */
  onUnknown: (() => void) | undefined;
}

/** How many tags the filters keep from being shown, and of how many it is not known whether they fit. */
export function LeftOut({ tags, unknown, q, isWhole, onUnknown }: LeftOutProps) {
  if (tags === undefined)
    return (
      <p role="status" className={styles.words}>
        Tags that do not match the filters are hidden.
      </p>
    );
  const unfit = tags - unknown;
  const soFar = isWhole ? "" : "So far ";
  return (
    <p role="status" className={styles.words}>
      {(unfit > 0 || unknown === 0) &&
        `${soFar}${counted(unfit, "tag")}${among(unfit, q)} ${doNot(unfit)} fit the filters.`}
      {unknown > 0 && ` ${soFar === "" || unfit > 0 ? "Of" : "So far of"} ${unknownWords(unknown, q)} `}
      {unknown > 0 && onUnknown !== undefined && <LinkButton onClick={onUnknown}>Show what is not known</LinkButton>}
    </p>
  );
}

const among = (tags: number, q: string): string =>
  q === "" ? "" : ` whose ${tags === 1 ? "name holds" : "names hold"} “${q}”`;

const doNot = (tags: number): string => (tags === 1 ? "does not" : "do not");

const unknownWords = (tags: number, q: string): string =>
  `${counted(tags, "tag")}${among(tags, q)} it is not known whether ${tags === 1 ? "it fits" : "they fit"}.`;

interface Looked {
  leftOut: number;
  unknown: number;
}

interface LeftOutCounts {
  isSearch: boolean;
  /** Whether the server looks at what tags point to. */
  isOfImages: boolean;
  /** How many tags there are in all, when it is known. */
  all: number | undefined;
  /** How many fit, when it is known. */
  total: number | undefined;
}

/** How many tags do not fit; undefined while that is not known. Of what is looked at in parts, those in the parts. */
export function leftOutOf(
  pages: readonly Looked[],
  { isSearch, isOfImages, all, total }: LeftOutCounts,
): number | undefined {
  const lookedAt = pages.reduce((sum, { leftOut }) => sum + leftOut, 0);
  if (isSearch) return lookedAt;
  if (all !== undefined && total !== undefined) return Math.max(all - total, 0);
  return isOfImages ? lookedAt : undefined;
}

/** Of how many tags it is not known whether they fit, as far as they were looked at. */
export function unknownOf(pages: readonly Looked[]): number {
  return pages.reduce((sum, { unknown }) => sum + unknown, 0);
}
