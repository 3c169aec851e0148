/** True in `npm run test:all`, which takes the time for more values, more rows and more rounds than `npm test`. */
const LONG = process.env["MOORAGE_TEST_LONG"] === "1";

/** The size of a test: the first in `npm test`, the second in `npm run test:all`. */
export function sized(short: number, long: number): number {
  return LONG ? long : short;
}
