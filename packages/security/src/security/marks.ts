export const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");
