export const intakeHandler = (..._: unknown[]) => async () => { throw new Error("not here yet"); };
