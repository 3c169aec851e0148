import { ScannerSchema } from "@moorage/api/messages";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";

/** How scanners are stored, without their authorization. */
export const SCANNER_LAYOUT = layoutOf(ScannerSchema, { without: ["authorization"] });

export const scannerColumns = columnsOf(SCANNER_LAYOUT, "scanners", [
  "name",
  "description",
  "url",
  "disabled",
  "on_request_only",
]);

export const scanners = resource({
  message: ScannerSchema,
  table: "scanners",
  toMessage: SCANNER_LAYOUT.ofRow,
  toRow: scannerColumns,
});

/** A scanner as answers have it, without its authorization. */
export const scannerOf = scanners.toMessage;
