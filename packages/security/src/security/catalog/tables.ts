import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * What is known about the content of an image, by its digest, whatever the number of repos that hold it. `state`: 1
     * waiting, 2 done, 3 failed. `backlog`: 1 for an image from before there were catalogs. `reason`: why the last
     * attempt failed, or empty. `holder`: the process that reads it, until `hold_until` in milliseconds of the agreed
     * time. `unread`: a JSON list of files that were not read, with why. `incomplete`: 1 when a part of the image could
     * not be read, or no package was found in it. `finish_time`: null while it waits.
     */
    image_catalogs: {
      digest: string;
      state: number;
      backlog: number;
      attempts: number;
      reason: string;
      holder: string;
      hold_until: number;
      os_id: string;
      os_version: string;
      os_name: string;
      unread: string;
      create_time: number;
      finish_time: number | null;
      readers: Generated<number>;
      rereads: Generated<number>;
      incomplete: Generated<number>;
    };
    /**
     * A package that an image holds. `id`: the first half of the SHA-256 of all other columns, in hex, so that each is
     * stored once. `ecosystem`: the type of the purl, for a distribution's package with its release: `deb/debian-12`.
     * `source_name` and `source_version`: the source package; the package itself where an ecosystem has none.
     * `matched`: since when it is compared with all records, in milliseconds since 1970; null while it waits for that.
     */
    packages: {
      id: string;
      ecosystem: string;
      source_name: string;
      source_version: string;
      purl: string;
      name: string;
      version: string;
      licence: string;
      matched: number | null;
    };
    /** The look-ups of a package, whose records are compared with the version; see `lookupsOf`. */
    package_keys: { key: string; package: string; version: string };
    /**
     * Which image holds which package. `source`: who says so: `layers`, our reading of them; `<manifest>/<n>`, an
     * attached document, which counts only in repos where it is attached; or `scan/<uid>`, the report of a scanner. `n`
     * counts from 0 for a digest and a source, in the order of paths. `reader`: see Component.
     */
    image_packages: {
      digest: string;
      source: string;
      n: number;
      package: string;
      layer: string;
      path: string;
      reader: string;
    };
    /**
     * Java archives that are not identified, by the numbers they have in image_packages with the source `layers`.
     * `clues`: what they say of themselves, see ArchiveClues.
     */
    image_archives: { digest: string; source: string; n: number; clues: string };
    /** The names that artifacts such an archive may be have. */
    image_archive_names: { artifact: string; digest: string; source: string; n: number };
  }
}

export const CATALOG_TABLES = declareTables({
  image_catalogs: { key: ["digest"], weight: "length(unread) + length(reason)" },
  packages: { key: ["id"] },
  package_keys: { key: ["key", "package"] },
  image_packages: { key: ["digest", "source", "n"] },
  image_archives: { key: ["digest", "source", "n"], weight: "length(clues)" },
  image_archive_names: { key: ["artifact", "digest", "source", "n"] },
});
