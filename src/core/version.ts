export const longhaulVersion = '0.1.0';
