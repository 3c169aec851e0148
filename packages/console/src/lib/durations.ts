const DAY_S = 86_400;
const HOUR_S = 3_600;
const MINUTE_S = 60;

/** The days of a duration of the API, such as `86400s`, as a field of numbers has them; empty without one. */
export function daysOf(duration: string | undefined): string {
  return inUnits(duration, DAY_S);
}

/** The hours of a duration of the API. */
export function hoursOf(duration: string | undefined): string {
  return inUnits(duration, HOUR_S);
}

/** The minutes of a duration of the API. */
export function minutesOf(duration: string | undefined): string {
  return inUnits(duration, MINUTE_S);
}

/** The duration of so many days, as the API has it; undefined for an empty field. */
export function durationOfDays(text: string): string | undefined {
  return text.trim() === "" ? undefined : `${Math.round(Number(text) * DAY_S)}s`;
}

/** The duration of so many hours. */
export function durationOfHours(text: string): string | undefined {
  return text.trim() === "" ? undefined : `${Math.round(Number(text) * HOUR_S)}s`;
}

/** The duration of so many minutes. */
export function durationOfMinutes(text: string): string | undefined {
  return text.trim() === "" ? undefined : `${Math.round(Number(text) * MINUTE_S)}s`;
}

function inUnits(duration: string | undefined, seconds: number): string {
  return duration === undefined || duration === "" ? "" : String(Number.parseFloat(duration) / seconds);
}

const UNITS = [
  ["day", DAY_S],
  ["hour", HOUR_S],
  ["minute", MINUTE_S],
] as const;

/** A duration of the API in words, such as `6 hours`; `day` for one of them, after "every". */
export function durationWords(duration: string | undefined): string {
  const seconds = Number.parseFloat(duration ?? "0");
  const [unit, size] = UNITS.find(([, each]) => seconds >= each && seconds % each === 0) ?? ["second", 1];
  const number = seconds / size;
  return number === 1 ? unit : `${number} ${unit}s`;
}
